import { expect, test } from "bun:test";
import { parseScript, renderScript, type Script } from "./language.ts";
import { hear, NOTHING_IN_MIND, nextScript, nextStep, overhear, type Play } from "./play.ts";

/** A mind and its memory, for telling a story in a few lines. */
class Mind {
  play: Play = NOTHING_IN_MIND;
  readonly scripts = new Map<string, Script>();
  private count = 0;

  hears(text: string, busy = false): string | undefined {
    this.count += 1;
    const id = `m${this.count}`;
    // Written down and read back each time, as the transcript does.
    const heard = hear(JSON.parse(JSON.stringify(this.play)), this.scripts, { id, text, busy });
    if (heard.script !== undefined) this.scripts.set(id, heard.script);
    this.play = heard.play;
    return heard.reply;
  }

  step(): string | undefined {
    const next = nextStep(this.play, this.scripts);
    if (next === undefined) return undefined;
    this.play = next.play;
    return next.step.kind === "say" ? next.step.text : next.step.kind;
  }

  rest(): string[] {
    const all: string[] = [];
    for (let step = this.step(); step !== undefined && all.length < 50; step = this.step()) all.push(step);
    return all;
  }
}

function script(...written: unknown[]): string {
  const parsed = parseScript(written);
  if ("error" in parsed) throw new Error(parsed.error);
  return renderScript(parsed.steps);
}

const say = (text: string) => ({ say: text });

test("RUN-1: a message with a script is played from its first step", () => {
  const mind = new Mind();
  expect(mind.hears(`go ${script(say("a"), say("b"))}`)).toBeUndefined();
  expect(mind.rest()).toEqual(["a", "b"]);
});

test("RUN-1: a message without one is acknowledged in eighty characters", () => {
  expect(new Mind().hears(`please\nlook ${"x".repeat(200)}`)).toBe(`Understood: please look ${"x".repeat(68)}`);
});

test("RUN-1: a script that cannot be read is answered, not ignored", () => {
  expect(new Mind().hears("@@SCRIPT[{@@END")).toContain("cannot read that script");
});

test("RUN-1: a message continues with a script that waits for one", () => {
  const mind = new Mind();
  mind.hears(script(say("a"), "wait", say("b")));
  expect([mind.step(), mind.step()]).toEqual(["a", "wait"]);
  expect(mind.hears("go on")).toBeUndefined();
  expect(mind.rest()).toEqual(["b"]);
});

test("RUN-1: a message that fits a rule puts the rule's steps first, then continues", () => {
  const mind = new Mind();
  mind.hears(script({ on: { message: "hurry", do: [say("hurrying")] } }, say("a"), say("b")));
  expect(mind.step()).toBe("a");
  expect(mind.hears("please hurry", true)).toBeUndefined();
  expect(mind.rest()).toEqual(["hurrying", "b"]);
  mind.hears("hurry again");
  expect(mind.rest()).toEqual(["hurrying"]);
});

test("RUN-1: a rule answers a waiting agent's message without being the message it waits for", () => {
  const mind = new Mind();
  mind.hears(script({ on: { message: "status", do: [say("fine"), "wait", say("still fine")] } }, "wait", say("b")));
  expect(mind.step()).toBe("wait");
  mind.hears("status?");
  expect([mind.step(), mind.step()]).toEqual(["fine", "wait"]);
  mind.hears("and now?");
  expect(mind.rest()).toEqual(["still fine"]);
  mind.hears("status?");
  expect([mind.step(), mind.step()]).toEqual(["fine", "wait"]);
  mind.hears("go on");
  expect(mind.rest()).toEqual(["still fine"]);
  mind.hears("go on");
  expect(mind.rest()).toEqual(["b"]);
});

test("RUN-1: rules also see what hooks put before the model, but nobody answers it", () => {
  const mind = new Mind();
  mind.hears(script({ on: { message: "[SUPERVISOR]", do: [say("changed course")] } }, say("a"), say("b")));
  mind.step();
  mind.play = overhear(mind.play, mind.scripts, "[SUPERVISOR] you repeat yourself");
  expect(mind.rest()).toEqual(["changed course", "b"]);
});

test("RUN-1: a script that comes during another is the next turn, not part of this one", () => {
  const mind = new Mind();
  mind.hears(script(say("a"), say("b")));
  mind.step();
  mind.hears(script(say("c")), true);
  expect(mind.rest()).toEqual(["b"]);
  mind.play = nextScript(mind.play) ?? mind.play;
  expect(mind.rest()).toEqual(["c"]);
  expect(nextScript(mind.play)).toBeUndefined();
});

test("RUN-1: the same instruction sent again continues where it was", () => {
  const mind = new Mind();
  const text = `do it ${script({ on: { message: "do it", do: [say("rule")] } }, say("a"), say("b"))}`;
  mind.hears(text.replace("do it ", ""));
  mind.step();
  mind.hears(text.replace("do it ", "again: "));
  expect(mind.rest()).toEqual(["b"]);
  mind.hears(text.replace("do it ", "and once more: "));
  expect(mind.rest()).toEqual(["a", "b"]);
});

test("RUN-1: while it ignores messages, neither rule nor script nor wait is moved by them", () => {
  const mind = new Mind();
  mind.hears(script({ on: { message: "x", do: [say("rule")] } }, "ignore", "wait", { ignore: false }, say("end")));
  expect([mind.step(), mind.step()]).toEqual(["ignore", "wait"]);
  expect(mind.hears("x")).toBeUndefined();
  expect(mind.hears(script(say("other")))).toBeUndefined();
  expect(mind.play.script).toBe("m1");
});

test("RUN-1: what was said about tokens stays in mind", () => {
  const mind = new Mind();
  mind.hears(script({ usage: { inputTokens: 5 } }, { usage: { contextWindow: 9 } }));
  mind.rest();
  expect(mind.play.usage).toEqual({ inputTokens: 5, contextWindow: 9 });
});
