/** The pictures of the README: drawn from what a terminal shows, and nothing added. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { drawTerminal } from "../scripts/terminal-svg.ts";
import { isLongLane } from "./support/scale.ts";
import { tempDir } from "./support/temp.ts";

setDefaultTimeout(240_000);

const ROOT = join(import.meta.dir, "..");
const shownIn = (svg: string) => svg.replace(/<[^>]*>/g, "").trim();

test("a terminal is drawn with its colours, also those that last into the next line, and its signs are harmless", () => {
  const svg = drawTerminal(
    ["\u001b[1;31mno <b>", "still\u001b[0m & \u001b[7mon\u001b[27m off\u001b[38;5;2m green"],
    40,
    'a "b"',
  );
  expect(shownIn(svg)).toContain("no &#60;b&#62;");
  expect(svg).toContain('fill="#ff7b72" font-weight="bold">no &#60;b&#62;<');
  expect(svg).toContain('fill="#ff7b72" font-weight="bold">still<');
  expect(svg).toContain('fill="#c9d1d9"> &#38; <');
  expect(svg).toContain('fill="#0d1117">on<');
  expect(svg).toContain('fill="#56d364"> green<');
  expect(svg).toContain('aria-label="a &#34;b&#34;"');
});

test("STATUS-1: the README shows the demo and the live view, each as it was on a screen", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  for (const name of ["demo", "live"]) expect(readme).toContain(`](docs/${name}.svg)`);
  expect(shownIn(readFileSync(join(ROOT, "docs/live.svg"), "utf8"))).toStartWith("$ overseer status --watch");
});

if (isLongLane())
  test("STATUS-1: the picture of the live view can be made anew, from a real demo in a real tmux", async () => {
    const to = join(tempDir("picture-"), "live.svg");
    const child = Bun.spawn([process.execPath, join(ROOT, "scripts/live-picture.ts"), to], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [said, failed, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect({ code, said: said + failed }).toEqual({ code: 0, said: expect.stringContaining("lines") });
    const shown = shownIn(readFileSync(to, "utf8"));
    expect(shown).toContain("builder-");
    expect(shown).not.toContain("overseer-demo-");
  });
