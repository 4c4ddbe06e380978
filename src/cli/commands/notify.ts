/** `overseer notify`: who is told what and how, and a test that it arrives. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, moment, table } from "#cli/text.ts";
import * as notify from "#control/notify.ts";
import { presentRecipients, presentTests } from "#control/present.ts";
import { TOPICS } from "#domain/model/news.ts";
import { OverseerError } from "#errors.ts";

const list: Command<Parts> = {
  name: "list",
  summary: "Show who is told what, and whether it gets through.",
  async run(call, parts) {
    const found = await notify.recipients(await parts.world());
    if (call.json) return call.out.json(presentRecipients(found));
    if (found.length === 0)
      return call.out.line("Nobody is told anything: channels in .overseer/config.yaml names nobody.");
    table(
      call.out,
      found.map(({ name, via, hears, waiting, problem, failingAt, lastToldAt }) => [
        name,
        via,
        hears.length === TOPICS.length ? "everything" : hears.join(", "),
        waiting.length > 0 ? `${waiting.length} waiting` : "",
        failingAt !== null
          ? `FAILS since ${moment(failingAt)} UTC: ${inert(problem ?? "")}`
          : lastToldAt === null
            ? ""
            : `told at ${moment(lastToldAt)} UTC`,
      ]),
    );
    call.out.remark("Try it: overseer notify test");
  },
};

const test: Command<Parts> = {
  name: "test",
  summary: "Send a test message to one of them, or to all.",
  args: [{ name: "name", summary: "A name of 'overseer notify'; all without one.", optional: true }],
  async run(call, parts) {
    const outcomes = await notify.tryRecipients(await parts.world(), call.optionalArg("name"));
    if (call.json) call.out.json(presentTests(outcomes));
    else {
      for (const { name, via, ok, detail } of outcomes) {
        call.out.line(ok ? `${name} (${via}): sent` : `${name} (${via}): NOT SENT: ${inert(detail)}`);
      }
    }
    const failed = outcomes.filter(({ ok }) => !ok);
    if (failed.length === 0) return;
    throw new OverseerError(
      "conflict",
      "NOT_TOLD",
      `Nothing got through to ${failed.map(({ name }) => name).join(", ")}.`,
      "Correct channels in .overseer/config.yaml and try again.",
    );
  },
};

const command: Command<Parts> = {
  name: "notify",
  summary: "Show who is told what, and try whether it arrives.",
  details:
    "People are told of goals that are reached or cancelled, reviews that wait, budgets, quota, providers that fail, mass deaths, safe mode, a replaced daemon and dead letters, by whatever channels in .overseer/config.yaml names: at most one message about the same thing within channels.bundle, and only alarms in quiet hours.",
  subcommands: [list, test],
  otherwise: "list",
  examples: [{ line: "overseer notify test ada", why: "see whether a message reaches ada" }],
};

export default command;
