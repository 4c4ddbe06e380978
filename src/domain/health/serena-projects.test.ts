import { expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "yaml";
import { scaled } from "../../../test/support/scale.ts";
import { addProject, listProjects, removeProject } from "./serena-projects.ts";

const OURS = ["/w/one project/builder-1-7", "/w/\"q'uote/builder-2-8", "/w/ü/builder-3-9"];

const FILES: readonly (readonly [name: string, text: string])[] = [
  [
    "as Serena writes it",
    "gui_log_window: false\n# the list of registered project paths\nprojects:\n- /home/me/repo\n- /home/me/b\n",
  ],
  [
    "with comments everywhere",
    "# mine\nprojects: # where I work\n  # first\n  - /home/me/a # daily\n\n  - '/home/me/it''s'\n  - \"/home/me/c\"\nrest: 1 # end\n",
  ],
  ["with an empty list", "a: 1\nprojects: []  # none yet\nb: 2\n"],
  ["with a list in brackets", "projects: [ /home/me/a , '/b', \"/c\" ]\nb: 2\n"],
  ["with brackets over lines", "projects: [\n  /home/me/a,\n  /home/me/b\n]\n"],
  ["with brackets and a space", "projects: [ ]\n"],
  ["with nothing behind the key", "a: 1\nprojects:\nb: 2\n"],
  ["that ends with the key", "a: 1\nprojects:"],
  ["that ends without a newline", "projects:\n- /home/me/a"],
  ["without the key", "a: 1\nb: [projects]\n"],
  ["without key and newline", "a: 1\n# projects: none"],
  ["that is empty", ""],
  ["of Windows", "a: 1\r\nprojects:\r\n- /home/me/a\r\nb: 2\r\n"],
];

test.each(FILES)(
  "SERENA-1: a file %s is the same byte for byte once what was added is gone, in any order",
  (_name, text) => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...OURS], { minLength: 1 }), fc.integer({ min: 0, max: 5 }), (added, turn) => {
        let now = text;
        for (const path of added) {
          const next = addProject(now, path);
          if (next === undefined) throw new Error("not understood");
          now = next;
        }
        const before = (parse(text) ?? {}) as { projects?: string[] | null };
        const { projects, ...rest } = parse(now) as { projects: string[] };
        expect(new Set(projects)).toEqual(new Set([...added, ...(before.projects ?? [])]));
        expect(projects).toHaveLength(added.length + (before.projects ?? []).length);
        expect(rest).toEqual((({ projects: _gone, ...others }) => others)(before) as typeof rest);
        expect(new Set(listProjects(now))).toEqual(new Set(projects));
        // Again changes nothing.
        for (const path of added) expect(addProject(now, path)).toBe(now);
        for (const path of [...added.slice(turn % added.length), ...added.slice(0, turn % added.length)]) {
          now = removeProject(now, path) ?? "";
        }
        expect(now).toBe(text);
        expect(removeProject(now, OURS[0] ?? "")).toBe(text);
      }),
      { numRuns: scaled(30) },
    );
  },
);

test("SERENA-1: what Serena has written in its own way meanwhile is found all the same", () => {
  const added = addProject("projects:\n- /home/me/a\n", "/w/builder-1-7") ?? "";
  const rewritten = `${added.replaceAll('"', "")}- /home/me/new\n`;
  expect(removeProject(rewritten, "/w/builder-1-7")).toBe("projects:\n- /home/me/a\n- /home/me/new\n");
});

test.each([
  ["two lists", "projects:\n- /a\nprojects:\n- /b\n"],
  ["a map", "projects: {a: /a}\n"],
  ["an alias", "projects: *all\n"],
  ["one text", "projects: /a\n"],
])("SERENA-1: %s is not touched", (_name, text) => {
  expect(addProject(text, "/w")).toBeUndefined();
  expect(removeProject(text, "/w")).toBeUndefined();
});

test.each([
  ["an open list", "projects: [a", ""],
  ["an entry", "projects:\n- a", "b\n"],
  ["an entry in brackets", "projects: [a", "b]\n"],
])(
  "SERENA-1: %s with a great many spaces is read in a moment",
  (_what, before, after) => {
    expect(listProjects(`${before}${" ".repeat(200_000)}${after}`)?.length).toBe(after === "" ? 0 : 1);
  },
  5_000,
);
