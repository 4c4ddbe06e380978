/** `overseer expertise …`: what is known in this repository, from every source that is switched on. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { breakLines, inert } from "#cli/text.ts";
import * as expertise from "#control/expertise.ts";
import { presentExpertise, presentKeptExpertise } from "#control/present.ts";
import { EXPERTISE_KINDS } from "#domain/learnings/expertise.ts";
import { OverseerError } from "#errors.ts";

const prime: Command<Parts> = {
  name: "prime",
  summary: "Show what an agent would be told that begins in a domain.",
  options: [
    { name: "domain", value: "name", summary: "A domain: a tag, or a domain of mulch.", repeat: true },
    { name: "path", value: "path", summary: "A file or directory it would work on.", repeat: true },
  ],
  examples: [{ line: "overseer expertise prime --path src/auth", why: "what is known about it" }],
  async run(call, parts) {
    const wish = { domains: call.list("domain"), paths: call.list("path") };
    print(call, await expertise.primeExpertise(await parts.world(), wish));
  },
};

const query: Command<Parts> = {
  name: "query",
  summary: "Find expertise by words.",
  args: [{ name: "words", summary: "What to look for.", rest: true }],
  async run(call, parts) {
    const words = call.restArgs().join(" ");
    if (words.trim() === "") {
      throw new OverseerError("usage", "WORDS_MISSING", "No words were given.", "overseer expertise query <words>");
    }
    print(call, await expertise.queryExpertise(await parts.world(), words));
  },
};

const record: Command<Parts> = {
  name: "record",
  summary: "Keep something for whoever works in a domain later.",
  details:
    "With mulch.enabled it goes into .mulch/ of your checkout; otherwise, and always when an agent records it, it is a learning with the domain as its tag.",
  args: [
    { name: "domain", summary: "What it is about, in one word." },
    { name: "text", summary: "One or two sentences.", rest: true },
  ],
  options: [
    { name: "kind", value: "kind", summary: "What it is (default convention).", choices: EXPERTISE_KINDS },
    { name: "because", value: "text", summary: "Of a failure, what to do instead; of a decision, why." },
  ],
  examples: [
    {
      line: 'overseer expertise record auth "npm test hangs without the database" --kind failure --because "make db"',
      why: "told to agents that begin in auth",
    },
  ],
  async run(call, parts) {
    const kept = await expertise.recordExpertise(await parts.world(), {
      domain: call.arg("domain"),
      kind: EXPERTISE_KINDS.find((kind) => kind === call.text("kind")) ?? "convention",
      text: call.restArgs().join(" "),
      because: call.text("because"),
    });
    if (call.json) return call.out.json(presentKeptExpertise(kept));
    call.out.line(`Kept in ${kept.source} as ${inert(kept.id)}.`);
  },
};

function print(call: Call, found: readonly expertise.ExpertiseFound[]): void {
  const { out } = call;
  if (call.json) {
    out.json(presentExpertise(found));
    return;
  }
  const items = found.flatMap(({ source, items }) => items.map((item) => ({ source, ...item })));
  if (items.length === 0) out.line("Nothing is known about it.");
  for (const { source, id, domain, kind, text } of items) {
    out.line(`${inert(id)}  ${source}${domain === "" ? "" : `, ${inert(domain)}`}, ${inert(kind)}`);
    for (const line of breakLines(out, text, "  ")) out.line(line);
  }
  for (const { source, problem } of found) {
    if (problem !== null) out.remark(`${source} did not answer: ${inert(problem)}.`);
  }
}

const command: Command<Parts> = {
  name: "expertise",
  summary: "Show, search and keep what is known in this repository.",
  subcommands: [prime, query, record],
  otherwise: "prime",
};

export default command;
