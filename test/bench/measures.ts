/** Which code measures which row of aims.ts. */
import type { RowName } from "./aims.ts";
import * as decide from "./decide.ts";
import { twenty } from "./fleet.ts";
import { hook, NOTHING, PERMIT, PERMIT_FILE, RECORD, TOOL } from "./hook.ts";
import * as idle from "./idle.ts";
import { landing } from "./landing.ts";
import { liveView } from "./live.ts";
import { lookInto, send } from "./mail.ts";
import { makespan } from "./makespan.ts";
import * as plan from "./plan.ts";
import * as rebuild from "./rebuild.ts";
import { reflex } from "./reflex.ts";
import { relay } from "./relay.ts";
import { restart } from "./restart.ts";
import type { Measure } from "./row.ts";
import { course, tickOf } from "./simulated.ts";
import { status, version } from "./start.ts";
import * as toolCall from "./tool-call.ts";
import * as watch from "./watch.ts";
import * as writers from "./writers.ts";

export const MEASURES: Readonly<Record<RowName, Measure>> = {
  "hook-record": hook(RECORD, "bundle"),
  "hook-tool": hook(TOOL, "bundle"),
  "hook-nothing": hook(NOTHING, "bundle"),
  "hook-guard": hook(PERMIT, "bundle"),
  "hook-guard-file": hook(PERMIT_FILE, "bundle"),
  "binary-hook-record": hook(RECORD, "binary"),
  "binary-hook-tool": hook(TOOL, "binary"),
  "binary-hook-nothing": hook(NOTHING, "binary"),
  "binary-hook-guard": hook(PERMIT, "binary"),
  "binary-hook-guard-file": hook(PERMIT_FILE, "binary"),
  "tool-cpu": toolCall.cpuByHttp,
  "tool-cpu-command": toolCall.cpuByCommand,
  "tool-wall": toolCall.wall,
  "tool-memory": toolCall.memory,
  "mail-check-10000": lookInto(10_000),
  status,
  twenty,
  restart,
  makespan,
  "idle-daemon": idle.daemon,
  "idle-runner": idle.runner,
  "idle-guard": idle.guard,
  "idle-guard-memory": idle.guardMemory,
  "idle-children": idle.children,
  "decide-10000": decide.tenThousand,
  "decide-linear": decide.linear,
  "relay-500": relay,
  "watch-50": watch.cycleOver(50),
  "watch-500": watch.cycleOver(500),
  "watch-5000": watch.cycleOver(5_000),
  "watch-5000-cold": watch.coldOver(5_000),
  "watch-linear": watch.linear,
  "plan-245": plan.validation,
  "plan-linear": plan.linear,
  writers: writers.rate,
  "writers-cost": writers.cost,
  landing: landing(300),
  "landing-large": landing(20_000),
  "rebuild-100k-sound": rebuild.rebuild(100_000, "sound"),
  "rebuild-100k-lost": rebuild.rebuild(100_000, "lost"),
  "rebuild-1M-sound": rebuild.rebuild(1_000_000, "sound"),
  "rebuild-1M-lost": rebuild.rebuild(1_000_000, "lost"),
  "rebuild-linear": rebuild.linear,
  "live-20": liveView(20),
  "live-300": liveView(300),
  version,
  "mail-check-0": lookInto(0),
  "mail-send": send,
  reflex,
  "tick-10000": tickOf(10_000),
  "sim-seed": course,
};
