/** Every word we say to tmux, compared as text: what tmux does with them is shown in test/contract/terminal.test.ts. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { OverseerError } from "#errors.ts";
import { anyText } from "../../test/support/any-text.ts";
import { sessionName, type TerminalName, terminalName } from "./terminal-name.ts";
import {
  attachArguments,
  captureArguments,
  exactTarget,
  identityFormat,
  keyArguments,
  killArguments,
  listArguments,
  openArguments,
  openScript,
  type PaneIdentity,
  parsePaneRows,
  parseVerdict,
  pasteArguments,
  quoteWord,
  serverArguments,
} from "./tmux-commands.ts";

const pane: PaneIdentity = {
  ...{ name: sessionName(47), sessionId: "$3", sessionCreated: 1700000000, paneId: "%5", pid: 4242 },
};
const IDENTITY =
  "#{==:#{session_name}|#{session_id}|#{session_created}|#{pane_id}|#{pane_pid},ov-47|$3|1700000000|%5|4242}";
const VERDICT = `#{?${IDENTITY},#{?pane_dead,exited,#{?session_attached,attached,free}},gone}`;

describe("names", () => {
  test("a session is named after its attempt", () => {
    expect([sessionName(47), sessionName("b-2")] as string[]).toEqual(["ov-47", "ov-b-2"]);
  });

  test.each(["", " ", "a.b", "a:b", "A", "-1", "$1", "*", "a\n", "ü", "a".repeat(41), "=x", "%3", "1.5"])(
    "PROC-1: the attempt %j is refused",
    (attempt) => {
      expect(() => sessionName(attempt)).toThrow(OverseerError);
    },
  );

  test("PROC-1: whatever passes the guard reads in a tmux target as one exact session", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        let name: TerminalName;
        try {
          name = terminalName(text);
        } catch (error) {
          return error instanceof OverseerError;
        }
        return /^=ov-[a-z0-9-]+:$/.test(exactTarget(name));
      }),
    );
  });
});

describe("argument lists", () => {
  const cases: [why: string, said: string[], text: string[]][] = [
    ["our own server, nobody's configuration", serverArguments("/r/s"), ["-u", "-S", "/r/s", "-f", "/dev/null"]],
    ["attach is exact", attachArguments(pane.name), ["attach-session", "-t", "=ov-47:"]],
    [
      "one listing for all",
      listArguments(),
      [
        ...["list-panes", "-a", "-F"],
        "#{session_id}|#{session_created}|#{pane_id}|#{pane_pid}|#{session_attached}|#{pane_dead}|#{pane_dead_status}|#{session_name}",
      ],
    ],
    [
      "opening says nothing of the launch on a command line",
      openArguments(),
      ["start-server", ";", "source-file", "-"],
    ],
    [
      "kill asks the server whether it is still that session",
      killArguments(pane),
      ["if-shell", "-F", "-t", "%5", IDENTITY, "kill-session -t '$3'"],
    ],
    [
      "peek says first whose screen it is",
      captureArguments(pane, 20),
      [
        ...["display-message", "-p", "-t", "%5", VERDICT, ";"],
        ...["if-shell", "-F", "-t", "%5", IDENTITY, "capture-pane -p -J -t %5 -S -20"],
      ],
    ],
    [
      "text comes by stdin and is pasted only where nobody looks",
      pasteArguments(pane, "ov-1-1"),
      [
        ...["load-buffer", "-b", "ov-1-1", "-", ";", "display-message", "-p", "-t", "%5", VERDICT, ";"],
        ...["if-shell", "-F", "-t", "%5", `#{==:${VERDICT},free}`],
        ...["paste-buffer -p -r -d -b ov-1-1 -t %5", "delete-buffer -b ov-1-1"],
      ],
    ],
    [
      "Enter is a byte, not a name",
      keyArguments(pane, "Enter").slice(-1),
      ["copy-mode -q -t %5 ; send-keys -t %5 -H 0d"],
    ],
  ];
  test.each(cases)("%s", (_why, said, text) => {
    expect(said).toEqual(text);
  });

  test("an identity names session, birth, pane and process", () => {
    expect(identityFormat(pane)).toBe(IDENTITY);
  });
});

describe("opening", () => {
  const request = { name: pane.name, cwd: "/w", argv: ["/bin/cat", "a;"], env: { A: "b\nc", SHELL: "/bin/zsh" } };
  const last = (script: string) => script.trimEnd().split("\n").at(-1);

  test("the session is made by one command, each word quoted", () => {
    const format = listArguments().at(-1);
    expect(last(openScript(request))).toBe(
      `"new-session" "-d" "-s" "ov-47" "-x" "200" "-y" "50" "-e" "A=b\\012c" "-e" "SHELL=/bin/zsh" "-P" "-F" "${format}" "--" "/bin/cat" "a;"`,
    );
  });

  test("a program alone is run through exec, because tmux would give a single word to a shell", () => {
    expect(last(openScript({ ...request, argv: ["/a b"] }))).toEndWith(`"--" "/bin/sh" "-c" "exec \\"\\$0\\"" "/a b"`);
  });

  test.each([
    ["plain", `"plain"`],
    ["", `""`],
    ['say "hi"', `"say \\"hi\\""`],
    ["$HOME", `"\\$HOME"`],
    ["~", `"\\176"`],
    ["a\\\nb", `"a\\\\\\012b"`],
    ["é🚀;", `"é🚀;"`],
  ])("the word %j is quoted as %s", (word, text) => {
    expect(quoteWord(word)).toBe(text);
  });

  test("a quoted word never spans lines", () => {
    fc.assert(fc.property(anyText(), (word) => !/[\r\n]/.test(quoteWord(word))));
  });
});

describe("answers", () => {
  test("rows are read, and whatever is no row of ours is left out", () => {
    const text = "$3|1700000000|%5|4242|1|0||ov-47\n$4|1700000001|%6|4243|0|1|3|odd|name\n\nprotocol error\n||||||\n";
    const common = { attached: 0, dead: false, deadStatus: null };
    expect(parsePaneRows(text)).toEqual([
      {
        ...common,
        ...{ sessionId: "$3", sessionCreated: 1700000000, paneId: "%5", pid: 4242, attached: 1, sessionName: "ov-47" },
      },
      {
        ...{ sessionId: "$4", sessionCreated: 1700000001, paneId: "%6", pid: 4243, attached: 0, dead: true },
        ...{ deadStatus: 3, sessionName: "odd|name" },
      },
    ]);
  });

  test("reading rows never fails", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("|", "$", "%", "1", "\n", "x") }), (text) => {
        parsePaneRows(text);
      }),
    );
  });

  test("a verdict that is none of ours means gone", () => {
    expect(["free", "attached", "exited", "gone", "", "x", undefined].map(parseVerdict)).toEqual([
      ...(["free", "attached", "exited", "gone", "gone", "gone", "gone"] as const),
    ]);
  });
});
