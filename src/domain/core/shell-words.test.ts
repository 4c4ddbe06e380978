import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { shellCommand, shellCommands, shellTokens, shellWord } from "./shell-words.ts";

const wordsOf = (line: string) => shellCommands(line).map((command) => command.words.map((word) => word.text));

describe("writing", () => {
  test.each([
    ["a plain path stays as it is", "/opt/bun/bin/bun", "/opt/bun/bin/bun"],
    ["a blank is quoted", "my repo", "'my repo'"],
    ["a single quote is stepped around", "it's", `'it'\\''s'`],
    ["a variable stays text", "$HOME", "'$HOME'"],
    ["a tilde stays text", "~/x", "'~/x'"],
    ["nothing is still a word", "", "''"],
    ["other alphabets are quoted", "größe", "'größe'"],
  ])("%s", (_why, word, written) => {
    expect(shellWord(word)).toBe(written);
  });

  test("any words come back from a real shell as they went in", () => {
    const words = ["a b", "it's", '"$HOME"', "`date`", "größe/日本", "-n", "\n", "\\", "*", "!", "#x", "~"];
    const run = Bun.spawnSync(["sh", "-c", `${shellCommand(["printf", "%s\\0", ...words])}`]);
    expect(run.stdout.toString().split("\0").slice(0, -1)).toEqual(words);
  });

  test("any words come back from our own reader as they went in", () => {
    const word = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", ""));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        const read = shellTokens(shellCommand(words));
        expect(read.map((token) => (token.kind === "word" ? token.word.text : token.kind))).toEqual(words);
      }),
    );
  });
});

describe("reading", () => {
  test.each([
    ["commands are split at their joints", "a 1; b && c || d | e & f", [["a", "1"], ["b"], ["c"], ["d"], ["e"], ["f"]]],
    ["quotes hold what is in them", `echo 'a; b' "c && d" e\\ f`, [["echo", "a; b", "c && d", "e f"]]],
    ["a comment is nothing", "a # b; c", [["a"]]],
    ["a hash inside a word is itself", "a b#c", [["a", "b#c"]]],
    ["the body of a here-document is data", "cat <<EOF\ngit stash; rm x\nEOF\nb", [["cat"], ["b"]]],
    ["tabs before the end are allowed with <<-", "cat <<-X\n\tgit push\n\tX\nb", [["cat"], ["b"]]],
    ["a subshell's commands are commands", "(cd x; a) && b", [["cd", "x"], ["a"], ["b"]]],
    [
      "a substitution runs before its command",
      "echo $(git stash)",
      [
        ["git", "stash"],
        ["echo", "$(git stash)"],
      ],
    ],
    ["also inside double quotes", 'echo "now: `date`"', [["date"], ["echo", "now: `date`"]]],
    ["not inside single quotes", "echo '$(git stash)'", [["echo", "$(git stash)"]]],
    ["keywords are not words", "while true; do a; done", [["true"], ["a"], []]],
    ["a quoted keyword is a word", "'while' x", [["while", "x"]]],
    ["a line may be continued", "a \\\n b", [["a", "b"]]],
    ["a descriptor is no word", "a 2>err 1>&2", [["a"]]],
    ["what is never closed still ends", "echo 'abc", [["echo", "abc"]]],
  ])("%s", (_why, line, words) => {
    expect(wordsOf(line)).toEqual(words);
  });

  test("redirects are told apart from words", () => {
    const [command] = shellCommands("a >out 2>>err <in &>all");
    expect(command?.redirects.map(({ op, target }) => [op, target.text])).toEqual([
      [">", "out"],
      [">>", "err"],
      ["<", "in"],
      ["&>", "all"],
    ]);
  });

  test("never throws and always ends, whatever is written", () => {
    const signs = fc.constantFrom(..."'\"\\$`(){}<>|&;#\n ab=-~*[]!".split(""), "<<EOF", "$(", "while ", "<<-", "\t");
    fc.assert(
      fc.property(fc.array(signs, { maxLength: 60 }), (pieces) => {
        shellCommands(pieces.join(""));
      }),
      { numRuns: scaled(500) },
    );
    fc.assert(fc.property(fc.string(), (text) => void shellCommands(text)));
  });

  test("time stays in proportion to the length", () => {
    for (const piece of ["$(", "'", '"', "`", "((", "<<E\n", "while ", "${"]) shellCommands(piece.repeat(20_000));
  });
});
