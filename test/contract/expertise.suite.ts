/** What every source of expertise keeps to; another one joins by adding a line to expertise.test.ts. */
import { beforeAll, describe, expect, test } from "bun:test";
import { byteLength } from "#domain/core/quote.ts";
import type { ExpertiseItem } from "#domain/learnings/expertise.ts";
import type { Expertise, ExpertiseAnswer, NewExpertise } from "#expertise/expertise.ts";

const HOSTILE = 'The parser fails on "quotes", $(touch pwned) and --force; ünd so fort.';
const BY = { provenance: "human:ada" } as const;

export function expertiseSuite(source: string, make: () => Promise<Expertise>): void {
  describe(`expertise contract: ${source}`, () => {
    let expertise: Expertise;
    const kept: readonly NewExpertise[] = [
      { ...BY, domain: "auth", kind: "convention", text: HOSTILE, because: null },
      { ...BY, domain: "auth", kind: "failure", text: "npm test hangs", because: "make db first" },
      { ...BY, domain: "web", kind: "decision", text: "Pages are static", because: "no server to keep alive" },
    ];

    beforeAll(async () => {
      expertise = await make();
      for (const item of kept) expect(await expertise.record(item)).toMatchObject({ ok: true });
    }, 30_000);

    test("MULCH-1, LEARN-1: what was recorded is told in its domain, whole, and in no other", async () => {
      const auth = textsOf(await expertise.prime({ domains: ["auth"], paths: [], budgetBytes: 10_000 }));
      expect(auth).toHaveLength(2);
      expect(auth.join("\n")).toContain(HOSTILE);
      expect(auth.join("\n")).toContain("make db first");
      const web = textsOf(await expertise.prime({ domains: ["web"], paths: [], budgetBytes: 10_000 }));
      expect(web).toHaveLength(1);
      expect(web[0]).toContain("Pages are static");
      expect(web[0]).toContain("no server to keep alive");
    });

    test("MULCH-1, LEARN-1: no more is told than there is room for", async () => {
      const told = textsOf(await expertise.prime({ domains: ["auth", "web"], paths: [], budgetBytes: 250 }));
      expect(byteLength(told.join(""))).toBeLessThanOrEqual(250);
      expect(told.length).toBeGreaterThan(0);
      expect(told.length).toBeLessThan(3);
    });

    test("MULCH-1: it is found by words, also by those that look like options", async () => {
      expect(textsOf(await expertise.query("parser quotes")).join()).toContain(HOSTILE);
      expect(await expertise.query("--force")).toMatchObject({ ok: true });
    });
  });
}

function textsOf(answer: ExpertiseAnswer<readonly ExpertiseItem[]>): string[] {
  if (!answer.ok) throw new Error(answer.problem);
  return answer.value.map(({ text }) => text);
}
