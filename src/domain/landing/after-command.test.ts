import { expect, test } from "bun:test";
import { concludeAfterLand } from "./after-command.ts";

const LANDED = { target: "main", commit: "a".repeat(40), landing: "g/T1" };
const MOMENT = { now: 1, actor: "overseer" } as const;
const FAILED = { verdict: "fail", why: "exit 3", excerpt: "", logPath: "" } as const;

const SAID: [what: string, receipt: Parameters<typeof concludeAfterLand>[1], text: string][] = [
  ["nothing more than its end", FAILED, "(exit 3). The landing stands."],
  [
    "its last words and its log",
    { ...FAILED, excerpt: "copying\nno such host\n", logPath: "/state/k.log" },
    '(exit 3). It said: "copying no such host". Its output: /state/k.log. The landing stands.',
  ],
  [
    "the end of a long output",
    { ...FAILED, excerpt: `${"x".repeat(900)} no such host` },
    `It said: "…${"x".repeat(287)} no such host". The landing`,
  ],
  [
    "the reason only once where it never ran",
    { ...FAILED, verdict: "did_not_run", why: "no worktree", excerpt: "no worktree" },
    "(no worktree). The landing stands.",
  ],
];

test.each(SAID)("AUTO-11: whoever is asked about a failed landing.afterLand reads %s", (_, receipt, text) => {
  const [event] = concludeAfterLand(LANDED, receipt, [], MOMENT);
  expect(event?.type === "question.asked" && event.data.text).toContain(text);
});
