import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { readUnit, refuseUnfit, renderUnit, type ServicePlan, serviceName, unitFileName } from "./service-unit.ts";

const plan = (more: Partial<ServicePlan> = {}): ServicePlan => ({
  ...{ manager: "systemd", root: "/home/ada/shop", program: "/opt/overseer/bin/overseer", words: [] },
  ...{ env: { PATH: "/usr/bin:/bin" }, envFile: "/home/ada/.config/overseer/service.env" },
  output: "/home/ada/shop/.git/overseer/logs/guard.out",
  ...more,
});

/** The value of a line of an INI file or of a plist. */
const lineOf = (text: string, key: string) => text.split("\n").find((line) => line.startsWith(`${key}=`));

describe("GUARD-1: what the file is called", () => {
  test.each([
    ["/home/ada/shop", /^overseer-shop-[0-9a-z]+\.service$/],
    ["/home/ada/My Shop (2)", /^overseer-my-shop-2-[0-9a-z]+\.service$/],
    ["/srv/日本", /^overseer-repository-[0-9a-z]+\.service$/],
    ["/", /^overseer-repository-[0-9a-z]+\.service$/],
    [`/x/${"a".repeat(300)}`, /^overseer-a{32}-[0-9a-z]+\.service$/],
    ["/x/--", /^overseer-repository-[0-9a-z]+\.service$/],
  ])("%s", (root, name) => {
    expect(unitFileName("systemd", root)).toMatch(name);
    expect(unitFileName("launchd", root)).toBe(`${serviceName(root)}.plist`);
  });

  test("two repositories of one name have two files", () => {
    expect(serviceName("/a/shop")).not.toBe(serviceName("/b/shop"));
  });
});

describe("GUARD-1: a unit of systemd", () => {
  const start = (more: Partial<ServicePlan>) => lineOf(renderUnit(plan(more)), "ExecStart");

  test.each<[string, Partial<ServicePlan>, string]>([
    ["plain", {}, '"/opt/overseer/bin/overseer" "guard" "--root" "/home/ada/shop" "--respect-down"'],
    ["a blank", { root: "/a b" }, '"/opt/overseer/bin/overseer" "guard" "--root" "/a b" "--respect-down"'],
    ["a percent sign", { root: "/50%" }, '"/opt/overseer/bin/overseer" "guard" "--root" "/50%%" "--respect-down"'],
    ["quotes", { root: `/a"b'c` }, `"/opt/overseer/bin/overseer" "guard" "--root" "/a\\"b'c" "--respect-down"`],
    ["a backslash", { root: "/a\\b" }, '"/opt/overseer/bin/overseer" "guard" "--root" "/a\\\\b" "--respect-down"'],
    ["a dollar sign", { root: "/$HOME" }, '"/opt/overseer/bin/overseer" "guard" "--root" "/$$HOME" "--respect-down"'],
    ["other letters", { root: "/ü/日本" }, '"/opt/overseer/bin/overseer" "guard" "--root" "/ü/日本" "--respect-down"'],
    [
      "a semicolon alone",
      { words: [";"] },
      '"/opt/overseer/bin/overseer" "guard" "--root" "/home/ada/shop" "--respect-down" ";"',
    ],
    [
      "the program's dollar",
      { program: "/$x/overseer" },
      '"/$x/overseer" "guard" "--root" "/home/ada/shop" "--respect-down"',
    ],
  ])("%s in its command", (_name, more, line) => {
    expect(start(more)).toBe(`ExecStart=${line}`);
  });

  test.each([
    ["/a b", "/a b"],
    ["/50%", "/50%%"],
    ["/a\\b", "/a\\b"],
    ["/a\\", "/a\\/"],
    ["/a ", "/a /"],
  ])("the directory %s is written %s", (root, written) => {
    expect(lineOf(renderUnit(plan({ root })), "WorkingDirectory")).toBe(`WorkingDirectory=${written}`);
  });

  test("variables, and what it does when something ends", () => {
    const text = renderUnit(plan({ env: { PATH: '/a b:/50%:/$x:/q"\\' } }));
    expect(text).toContain('\nEnvironment="PATH=/a b:/50%%:/$x:/q\\"\\\\"\n');
    for (const line of ["Type=simple", "Restart=on-failure", "KillMode=process", "WantedBy=default.target"])
      expect(text).toContain(`\n${line}\n`);
    // A guard that has stopped because only a person can help is not begun again.
    expect(text).toContain("\nRestartPreventExitStatus=2 3 4 5 6\n");
    expect(text).toContain("\nOOMPolicy=continue\n");
  });
});

describe("GUARD-1: a list of launchd", () => {
  test("what XML means is escaped, and no comment ends early", () => {
    const text = renderUnit(plan({ manager: "launchd", root: `/a&b<c>"'--`, words: ["--auto"] }));
    expect(text).toContain("<string>/a&amp;b&lt;c&gt;&quot;&apos;--</string>");
    const [comment = ""] = /<!--[\s\S]*?-->/.exec(text) ?? [];
    expect(comment.slice(4, -3)).not.toContain("--");
    expect(text.indexOf("<?xml")).toBe(0);
    expect(readUnit(text)).toEqual({ root: `/a&b<c>"'--`, words: ["--auto"], edited: false });
  });
});

describe("GUARD-1: what a unit cannot hold is refused", () => {
  test.each<[string, Partial<ServicePlan>, RegExp | undefined]>([
    ["plain", {}, undefined],
    ["blanks, quotes and percent signs", { root: `/a b%"'ü` }, undefined],
    ["a line end in the path", { root: "/a\nb" }, /path of this repository/],
    ["a tab", { root: "/a\tb" }, /path of this repository/],
    ["bytes that were no text", { root: "/a\ufffd" }, /path of this repository/],
    ["half a character", { root: "/a\ud800" }, /path of this repository/],
    ["a line end in the program", { program: "/a\n/overseer" }, /path of the program/],
    ["a quote in the program", { program: "/a'b/overseer" }, /path of the program/],
    ["a quote in the program, launchd", { manager: "launchd", program: "/a'b/overseer" }, undefined],
    ["a command of two lines", { words: ["--task-pool-command=a\nb"] }, /An option/],
    ["a variable of two lines", { env: { PATH: "/a\nExecStart=/bad" } }, /variable PATH/],
  ])("%s", (_name, more, says) => {
    const refused = refuseUnfit(plan(more));
    if (says === undefined) expect(refused).toBeUndefined();
    else expect(refused?.refusal.message).toMatch(says);
  });
});

describe("GUARD-1: a file that is there", () => {
  test("is known again, also when somebody has changed it", () => {
    const words = ["--auto", "--task-pool-command=./next -- task"];
    const text = renderUnit(plan({ words }));
    expect(readUnit(text)).toEqual({ root: "/home/ada/shop", words, edited: false });
    expect(readUnit(text.replace("RestartSec=10", "RestartSec=1"))?.edited).toBe(true);
  });

  test.each(["", "[Unit]\nDescription=Mine\n", "# Written by 'overseer service install': {\n[Unit]\n", "a\nb\nc\n"])(
    "that is not ours is not: %p",
    (text) => {
      expect(readUnit(text)).toBeUndefined();
    },
  );

  test("whatever may stand in it is read back, and adds no line", () => {
    const lines = (manager: ServicePlan["manager"]) => renderUnit(plan({ manager, words: ["x"] })).split("\n").length;
    fc.assert(
      fc.property(anyText(), anyText(), fc.constantFrom("systemd", "launchd"), (root, word, manager) => {
        const one = plan({ manager, root: `/${root}`, words: [word], env: { PATH: word } });
        if (refuseUnfit(one)) return;
        const text = renderUnit(one);
        expect(readUnit(text)).toEqual({ root: `/${root}`, words: [word], edited: false });
        expect(text.split("\n").length).toBe(lines(manager));
      }),
    );
  });
});
