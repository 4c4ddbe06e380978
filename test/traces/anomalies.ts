/**
 * Agents in trouble, each as the supervisor's specification describes the trouble, in several ways of getting into it.
 * `labels` must be noticed; `may` also holds what such an episode contains by its nature (whoever fails at everything
 * fails with different tools, too) and is counted neither way.
 */
import { bash, edit, failedEdit, grep, type Project, read, reread, todos } from "./ground.ts";
import type { Story, ToolUse } from "./story.ts";

export interface Episode {
  readonly name: string;
  readonly role: "builder" | "scout";
  readonly labels: readonly string[];
  readonly may: readonly string[];
  tell(story: Story, project: Project): void;
}

const roleOf = { builder: 12, scout: 15 } as const;

/** Some healthy work first: trouble comes out of work. */
function beginning(story: Story, project: Project): void {
  const { dice } = story;
  for (let count = dice.between(1, 5); count > 0; count -= 1) {
    story.step(read(dice.pick(project.files), dice));
    if (dice.chance(0.5)) story.step(edit(dice.pick(project.files), dice));
  }
  story.step(edit(dice.pick(project.files), dice));
}

function episode(
  name: string,
  labels: readonly string[],
  may: readonly string[],
  tell: Episode["tell"],
  role: Episode["role"] = "builder",
): Episode {
  return {
    name,
    role,
    labels,
    may,
    tell(story, project) {
      beginning(story, project);
      tell(story, project);
    },
  };
}

/** Few files, gone through again and again. */
const rereading = (role: Episode["role"]) =>
  episode(
    `stall-rereading-${role}`,
    ["stall"],
    [],
    (story, project) => {
      const { dice } = story;
      const few = dice.shuffled(project.files).slice(0, dice.between(4, 6));
      const steps = few.length + roleOf[role] + dice.between(5, 9);
      for (let at = 0; at < steps; at += 1) {
        story.step(reread(few[at % few.length] ?? ""));
        if (dice.chance(0.2)) story.say("Let me look at that again.");
      }
    },
    role,
  );

const fiddling = episode("stall-fiddling", ["stall"], ["loop"], (story) => {
  const { dice } = story;
  const idle: ToolUse[] = [
    bash("pwd", "/repo/wt"),
    bash("git status --short", ""),
    bash("ls", "README.md\npackage.json\nsrc"),
    bash("git log --oneline -3", "a1 one\nb2 two\nc3 three"),
    bash("echo thinking", "thinking"),
  ];
  const steps = 12 + idle.length + dice.between(5, 9);
  let last = -1;
  for (let at = 0; at < steps; at += 1) {
    let next = dice.between(0, idle.length - 1);
    if (next === last) next = (next + 1) % idle.length;
    last = next;
    story.step(idle[next] ?? bash("pwd", "/repo/wt"));
  }
});

const planning = episode("stall-planning", ["stall"], [], (story, project) => {
  const { dice } = story;
  const few = dice.shuffled(project.files).slice(0, 4);
  const steps = 12 + dice.between(9, 13);
  for (let at = 0; at < steps; at += 1) {
    story.step(at % 2 === 0 ? todos(dice) : reread(few[((at / 2) % few.length) | 0] ?? ""));
    if (dice.chance(0.5)) story.say("First I need a better plan.");
  }
});

const exploringForever = episode("stall-exploring-forever", ["stall"], [], (story, project) => {
  const { dice } = story;
  for (let at = dice.between(244, 250); at > 0; at -= 1) story.step(read(dice.pick(project.files), dice));
});

const sameCommand = episode("loop-command", ["loop"], [], (story, project) => {
  const { dice } = story;
  const command = `${project.test} ${dice.pick(project.words)}`;
  for (let at = dice.between(5, 7); at > 0; at -= 1) {
    story.step(bash(command, project.failing(3, 40, dice.between(2, 9)), false));
    if (dice.chance(0.4)) story.say("Let me try that again.");
  }
});

const sameFlags = episode("loop-similar-flags", ["loop"], [], (story) => {
  const { dice } = story;
  const flags = ["--verbose", "--no-cache", "--runInBand --ci", "--silent", "-w 1", "--bail --verbose"];
  const port = dice.between(5_000, 6_000);
  for (const flag of dice.shuffled(flags).slice(0, 5)) {
    story.step(bash(`npm run dev:db ${flag}`, `Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:${port}`, false));
  }
});

const sameRead = episode("loop-read", ["loop"], [], (story, project) => {
  const { dice } = story;
  const file = dice.pick(project.files);
  for (let at = dice.between(6, 8); at > 0; at -= 1) story.step(reread(file));
});

const sameEdit = episode("loop-edit", ["loop"], [], (story, project) => {
  const { dice } = story;
  const file = dice.pick(project.files);
  const text = `return ${dice.pick(project.words)}(input);`;
  for (let at = dice.between(5, 6); at > 0; at -= 1) {
    story.step(failedEdit(file, text));
    if (dice.chance(0.3)) story.step(reread(file));
  }
});

const sameSearch = episode("loop-search", ["loop"], [], (story, project) => {
  const { dice } = story;
  const word = dice.pick(project.words);
  for (let at = dice.between(6, 8); at > 0; at -= 1) story.step(grep(word, "No matches found"));
});

const nothingHelps = episode("loop-edit-test-same", ["loop"], [], (story, project) => {
  const { dice } = story;
  for (let at = dice.between(9, 11); at > 0; at -= 1) {
    story.step(edit(dice.pick(project.files), dice));
    story.step(bash(project.test, project.failing(2, 31, dice.between(2, 9)), false));
  }
});

const backAndForth = episode("oscillation-commands", ["oscillation"], ["loop", "contingent", "emergency"], (story) => {
  const { dice } = story;
  const [a, b] = dice.pick([
    [
      bash("npm install", "Exit code 1\nnpm error code ERESOLVE\nnpm error ERESOLVE could not resolve", false),
      bash("npm install --legacy-peer-deps", "Exit code 1\nnpm error code ENOTFOUND registry", false),
    ],
    [
      bash("python manage.py migrate", "Exit code 1\ndjango.db.utils.OperationalError: no such table", false),
      bash("python manage.py loaddata base", "Exit code 1\nCommandError: No fixture named base", false),
    ],
    [
      bash("docker compose up -d", "Exit code 1\nError: port is already allocated", false),
      bash("docker compose down", "Exit code 1\nError: no configuration file provided", false),
    ],
  ] as const);
  for (let at = dice.between(4, 5); at > 0; at -= 1) {
    story.step(a);
    story.step(b);
  }
});

const editAndCheck = episode(
  "oscillation-tools",
  ["oscillation"],
  ["loop", "contingent", "emergency"],
  (story, project) => {
    const { dice } = story;
    const file = dice.pick(project.files);
    const failing = failedEdit(file, `const ${dice.pick(project.words)} = 1;`);
    const missing = bash(
      `node scripts/apply-${dice.between(1, 9)}.js`,
      "Exit code 1\nError: Cannot find module 'left-pad'",
      false,
    );
    for (let at = dice.between(4, 5); at > 0; at -= 1) {
      story.step(failing);
      story.step(missing);
      if (dice.chance(0.25)) story.say("The other way, then.");
    }
  },
);

const wrongPlace = episode("cascade-wrong-directory", ["cascade"], ["contingent", "emergency"], (story, project) => {
  const { dice } = story;
  const file = dice.pick(project.files);
  const broken: ToolUse[] = [
    {
      tool: "Read",
      input: { file_path: `/wrong/${file}` },
      ok: false,
      result: "<tool_use_error>File does not exist.</tool_use_error>",
    },
    {
      tool: "Grep",
      input: { pattern: dice.pick(project.words), path: "/wrong/src" },
      ok: false,
      result: "<tool_use_error>Path does not exist: /wrong/src</tool_use_error>",
    },
    bash(
      `cd /wrong && ${project.test}`,
      "Exit code 1\n/bin/sh: 1: cd: can't cd to /wrong: No such file or directory",
      false,
    ),
    failedEdit(`../wrong/${file}`, "export const"),
    {
      tool: "Glob",
      input: { pattern: "**/*.md", path: "/wrong" },
      ok: false,
      result: "<tool_use_error>Directory does not exist: /wrong</tool_use_error>",
    },
  ];
  for (const use of dice.shuffled(broken)) story.step(use);
  story.step(dice.pick(broken));
});

const brokenMachine = episode("cascade-broken-environment", ["cascade"], ["contingent", "emergency"], (story) => {
  const { dice } = story;
  const programs = ["node", "npm", "python3", "make", "docker", "psql", "cargo", "go"];
  for (const program of dice.shuffled(programs).slice(0, dice.between(5, 6))) {
    story.step(bash(`${program} --version`, `Exit code 127\n/bin/sh: 1: ${program}: command not found`, false));
  }
});

const toolsDown = episode("cascade-tools-down", ["cascade"], ["contingent", "emergency"], (story, project) => {
  const { dice } = story;
  const down: ToolUse[] = [
    {
      tool: "WebFetch",
      input: { url: "https://example.invalid/docs" },
      ok: false,
      result: "Error: ENOTFOUND example.invalid",
    },
    { tool: "mcp__tracker__list", input: { state: "open" }, ok: false, result: "Error: MCP server disconnected" },
    bash(`gh pr view ${dice.between(1, 99)}`, "Exit code 1\nerror connecting to api.github.com", false),
    {
      tool: "Write",
      input: { file_path: `/repo/wt/${dice.pick(project.files)}`, content: "x" },
      ok: false,
      result: "Error: ENOSPC: no space left on device",
    },
  ];
  for (const use of dice.shuffled(down)) story.step(use);
  for (const use of dice.shuffled(down).slice(0, 2)) story.step(use);
});

function filling(name: string, label: string, low: number, high: number): Episode {
  return episode(name, [label], label === "context-urgent" ? ["context"] : [], (story, project) => {
    const { dice } = story;
    const window = dice.pick([200_000, 1_000_000]);
    for (let share = low - 0.12; share < low; share += 0.03) {
      story.fill(share, window);
      story.step(read(dice.pick(project.files), dice));
      story.step(edit(dice.pick(project.files), dice));
    }
    for (let at = dice.between(4, 7); at > 0; at -= 1) {
      story.fill(low + dice.next() * (high - low), window);
      story.step(edit(dice.pick(project.files), dice));
    }
  });
}

/** One thing after another goes wrong, each in its own way. */
function failures(story: Story, project: Project, count: number): void {
  const { dice } = story;
  for (let at = 0; at < count; at += 1) {
    const kind = at % 3;
    if (kind === 0) story.step(failedEdit(dice.pick(project.files), `call ${dice.between(1, 99_999)}`));
    else if (kind === 1)
      story.step(
        bash(
          `node scripts/${dice.pick(project.words)}.js ${at}`,
          `Exit code 1\nTypeError: ${dice.pick(project.words)} is not a function (${at})`,
          false,
        ),
      );
    else
      story.step(
        bash(
          `python tools/${dice.pick(project.words)}.py ${at}`,
          `Exit code 1\nKeyError: '${dice.pick(project.words)}${at}'`,
          false,
        ),
      );
    if (dice.chance(0.3)) story.say("That did not work either.");
  }
}

const failing = (name: string, label: string, may: readonly string[], low: number, high: number) =>
  episode(name, [label], may, (story, project) => failures(story, project, story.dice.between(low, high)));

const driftingOn = (name: string, label: string, may: readonly string[], factor: number) =>
  episode(name, [label], may, (story, project) => {
    const { dice } = story;
    const few = dice.shuffled(project.files).slice(0, 5);
    const steps = few.length + factor * 12 + dice.between(4, 7);
    for (let at = 0; at < steps; at += 1) story.step(reread(few[at % few.length] ?? ""));
  });

/** The tool says each time which words it did not find. */
const quotingEdit = episode("loop-edit-quoting", ["loop"], ["contingent"], (story, project) => {
  const { dice } = story;
  const file = dice.pick(project.files);
  for (let at = dice.between(5, 7); at > 0; at -= 1) {
    story.step(failedEdit(file, `  return ${dice.pick(project.words)}(${dice.between(1, 99)});`));
    if (dice.chance(0.4)) story.step(reread(file));
  }
});

/** What it quotes is another each time, and each time the file is looked at before the next try. */
const editInVain = episode("loop-edit-in-vain", ["loop"], ["contingent"], (story, project) => {
  const { dice } = story;
  const file = dice.pick(project.files);
  for (let at = dice.between(5, 6); at > 0; at -= 1) {
    const words = dice.pick([
      `Failed to find expected lines in ${file}:`,
      `invalid hunk at line ${dice.between(2, 90)}`,
    ]);
    story.step({
      tool: "Edit",
      input: { file_path: `/repo/wt/${file}`, old_string: `${dice.pick(project.words)} ${at}`, new_string: "x" },
      ok: false,
      result: `${words}\n${dice.pick(project.words)} ${dice.between(1, 1e6)}`,
    });
    for (let looks = dice.between(1, 2); looks > 0; looks -= 1) {
      const from = dice.between(1, 900);
      story.step(bash(`sed -n '${from},${from + 20}p' ${file}`, `${file} lines ${from}`));
    }
  }
});

/** A program that is only a stub: it ends with a code of its own and not a word, whatever it is given. */
const silentStub = episode("loop-silent-stub", ["loop"], ["contingent"], (story, project) => {
  const { dice } = story;
  const code = dice.between(3, 99);
  for (let at = dice.between(6, 8); at > 0; at -= 1) {
    const file = dice.pick(project.files);
    story.step(
      bash(
        `${dice.pick(["python", "python3"])} tools/${dice.pick(project.words)}.py ${file}`,
        `Exit code ${code}`,
        false,
      ),
    );
    if (dice.chance(0.6)) story.step(bash(`cat ${file} | head -${at}`, `// ${file}\n${dice.between(1, 1e6)}`));
  }
});

/** It works each time, and the file grows by the same lines. */
const sameEditAgain = episode("loop-edit-again", ["loop"], [], (story, project) => {
  const { dice } = story;
  const file = dice.pick(project.files);
  const word = dice.pick(project.words);
  for (let at = dice.between(5, 7), lines = dice.between(40, 400); at > 0; at -= 1, lines += 2) {
    story.step({
      tool: "Edit",
      input: { file_path: `/repo/wt/${file}`, old_string: `use(${word});`, new_string: `use(${word});\nuse(${word});` },
      result: `The file /repo/wt/${file} has been updated.\n${lines}\t  use(${word});\n${lines + 1}\t  use(${word});`,
    });
  }
});

/** A finished run whose first line begins with the word Running. */
const runAgain = episode("loop-running-line", ["loop"], [], (story) => {
  const { dice } = story;
  const tests = dice.between(3, 60);
  const [command, line] = dice.pick([
    ["npx playwright test", `Running ${tests} tests using 4 workers`],
    ["cargo run --example migrate", `running ${tests} migrations`],
    ["python manage.py migrate", "Running migrations:\n  No migrations to apply."],
  ] as const);
  for (let at = dice.between(6, 9); at > 0; at -= 1) story.step(bash(command, `${line}\n\n${tests} done in ${at}.2s`));
});

const feedingShell = episode("loop-long-lived-shell", ["loop"], [], (story) => {
  const { dice } = story;
  let line = dice.between(40_000, 60_000);
  for (let at = dice.between(5, 7); at > 0; at -= 1) {
    line += dice.between(3, 60);
    story.step(
      bash("./deploy.sh staging", `Exit code 127\n/bin/bash: line ${line}: kubectx: command not found`, false),
    );
  }
});

/** Committing does not help, and each commit is a change. */
const roundsOfOneError = episode("loop-one-error-between-changes", ["loop"], [], (story, project) => {
  const { dice } = story;
  for (let at = dice.between(8, 10); at > 0; at -= 1) {
    story.step(
      bash(
        "git switch main",
        "Exit code 1\nerror: Your local changes would be overwritten by checkout:\n\tlog.txt",
        false,
      ),
    );
    story.step(edit(dice.pick(project.files), dice));
    story.step(bash(`git commit -am 'Step ${dice.between(1, 9_999)}'`, `[topic ${at}a7f01c] Step`));
  }
});

const hunting = episode("hunt-program", ["hunt"], ["cascade", "contingent", "emergency", "stall"], (story) => {
  const { dice } = story;
  const name = dice.pick(["terraform", "protoc", "wasm-opt", "kubectl", "buf"]);
  story.step(bash(`${name} --version`, `Exit code 127\n/bin/sh: 1: ${name}: command not found`, false));
  const ways = [
    bash(`which ${name}`, "Exit code 1", false),
    bash(`find / -name '${name}*' -type f 2>/dev/null | head`, ""),
    bash(`ls /usr/local/bin | grep ${name}`, "Exit code 1", false),
    bash(`command -v ${name} || echo none`, "none: not found"),
    bash(`ls ~/.local/bin/${name}`, `Exit code 2\nls: cannot access '${name}': No such file or directory`, false),
    bash(`whereis ${name}`, ""),
    bash(`find /opt /usr -iname '*${name}*'`, ""),
    bash(`npm ls -g | grep ${name}`, "Exit code 1", false),
    bash(`brew list | grep ${name}`, "Exit code 1", false),
  ];
  for (const way of dice.shuffled(ways)) story.step(way);
});

/** Every round another case fails, and never fewer. */
const noBetter = episode("churn-edit-test", ["churn"], ["loop"], (story, project) => {
  const { dice } = story;
  for (let at = dice.between(18, 22); at > 0; at -= 1) {
    for (let tries = dice.between(1, 2); tries > 0; tries -= 1) story.step(edit(dice.pick(project.files), dice));
    const word = dice.pick(project.words);
    story.step(
      bash(
        project.test,
        `Exit code 1\n× ${word} rounds half up\nexpected ${at} to be ${dice.between(1, 99)}\n3 failed, 37 passed`,
        false,
      ),
    );
  }
});

const fillingPolls = episode("polling-fills", ["polling"], ["context", "stall"], (story) => {
  const { dice } = story;
  let share = 0.2;
  for (let at = dice.between(14, 18); at > 0; at -= 1) {
    story.step({
      tool: "BashOutput",
      input: { bash_id: "bash_3" },
      result: `<status>running</status>\n<stdout>${"compiling part ".repeat(dice.between(20, 60))}</stdout>`,
    });
    share += 0.02;
    story.fill(share, 200_000);
  }
});

/** The CLI empties the context by itself; the warning has to come before. */
const compacting = episode("context-compacts-at-77", ["context"], [], (story, project) => {
  const { dice } = story;
  for (let share = dice.between(60, 66) / 100; share < 0.772; share += dice.between(3, 12) / 1_000) {
    story.fill(share, 200_000);
    story.step(edit(dice.pick(project.files), dice));
  }
  story.compact();
  story.step(edit(dice.pick(project.files), dice));
});

/** Each several times, with chances of their own. */
export const TROUBLES: readonly (readonly [times: number, episode: Episode])[] = [
  [7, rereading("builder")],
  [5, rereading("scout")],
  [6, fiddling],
  [5, planning],
  [4, exploringForever],
  [5, sameCommand],
  [5, sameFlags],
  [4, sameRead],
  [4, sameEdit],
  [4, sameSearch],
  [5, nothingHelps],
  [4, quotingEdit],
  [4, sameEditAgain],
  [4, runAgain],
  [4, feedingShell],
  [4, roundsOfOneError],
  [16, hunting],
  [16, noBetter],
  [16, fillingPolls],
  [8, compacting],
  [12, backAndForth],
  [8, editAndCheck],
  [8, wrongPlace],
  [8, brokenMachine],
  [6, toolsDown],
  [20, filling("context-75", "context", 0.76, 0.89)],
  [20, filling("context-90", "context-urgent", 0.91, 0.98)],
  [12, failing("contingent-failures", "contingent", ["cascade", "oscillation", "emergency"], 9, 9)],
  [8, driftingOn("contingent-drifting", "contingent", ["stall"], 2)],
  [12, failing("emergency-failures", "emergency", ["cascade", "contingent", "oscillation", "stall"], 13, 16)],
  [8, driftingOn("emergency-drifting", "emergency", ["stall", "contingent"], 3)],
  [4, editInVain],
  [4, silentStub],
];
