import { expect, test } from "bun:test";
import { holes, renderTemplate } from "./template.ts";

const values = { "a.b": "one", outer: "<{{a.b}}>", circle: "{{circle}}", price: "$& $1" };
const cases: [why: string, text: string, rendered: string, unknown: { name: string; line: number }[]][] = [
  ["a known name is filled in", "x {{a.b}} {{ a.b }}", "x one one", []],
  ["a value may have a hole of its own", "{{outer}}", "<one>", []],
  ["a circle comes to an end", "{{circle}}", "{{circle}}", []],
  ["dollar signs in a value are just text", "{{price}}", "$& $1", []],
  ["an unknown name stays and is told with its line", "a\n{{b.c}}", "a\n{{b.c}}", [{ name: "b.c", line: 2 }]],
  [
    "names of the language itself are unknown",
    "{{constructor}}",
    "{{constructor}}",
    [{ name: "constructor", line: 1 }],
  ],
  ["braces that are no placeholder are left alone", "{{ }} {x} {{1}}", "{{ }} {x} {{1}}", []],
];
test.each(cases)("AGENT-1: templates: %s", (_why, text, rendered, unknown) => {
  const result = renderTemplate(text, values);
  expect(result.text).toBe(rendered);
  expect([...result.unknown]).toEqual(unknown);
});

test("AGENT-1: templates: every hole is listed in order", () => {
  expect(holes("{{a}} {{b}}\n\n{{a}}")).toEqual([
    { name: "a", line: 1 },
    { name: "b", line: 1 },
    { name: "a", line: 3 },
  ]);
});
