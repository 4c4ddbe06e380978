/**
 * Who carries out which kind of action, for the daemon and for whoever plays it: one file a kind. Each looks first whether
 * the world is already so, because it may be done twice. The world speaks as Overseer.
 */
import { runAfterLand as afterLand } from "#act/landing/after-land.ts";
import { pushAction as push } from "#act/landing/remote.ts";
import type { World } from "#control/world.ts";
import type { ActionKind } from "#domain/model/action.ts";
import type { Executor } from "#engine/outbox.ts";
import ask from "./ask.ts";
import check from "./check.ts";
import clean from "./clean.ts";
import deliver from "./deliver.ts";
import diagnose from "./diagnose.ts";
import land from "./land.ts";
import notify from "./notify.ts";
import pause from "./pause.ts";
import plan from "./plan.ts";
import reassign from "./reassign.ts";
import replan from "./replan.ts";
import resend from "./resend.ts";
import restart from "./restart.ts";
import resume from "./resume.ts";
import spawn from "./spawn.ts";
import stop from "./stop.ts";

export const REGISTRY: { readonly [K in ActionKind]: Executor<K, World> } = {
  afterLand,
  ask,
  check,
  clean,
  deliver,
  diagnose,
  land,
  notify,
  pause,
  plan,
  push,
  reassign,
  replan,
  resend,
  restart,
  resume,
  spawn,
  stop,
};
