/**
 * Agents that are well, in the ways that have been mistaken for trouble: long silence, repetition with a purpose,
 * failures on the way to success. Nothing may be said to any of them.
 */
import type { Episode } from "./anomalies.ts";
import { bash, commit, edit, failedEdit, grep, type Project, read, todos } from "./ground.ts";
import type { Story } from "./story.ts";

const MINUTE = 60_000;

function healthy(name: string, tell: Episode["tell"], role: Episode["role"] = "builder"): Episode {
  return { name: `healthy-${name}`, role, labels: [], may: [], tell };
}

function someWork(story: Story, project: Project, low = 1, high = 3): void {
  const { dice } = story;
  for (let count = dice.between(low, high); count > 0; count -= 1) {
    if (dice.chance(0.6)) story.step(read(dice.pick(project.files), dice));
    story.step(edit(dice.pick(project.files), dice));
  }
}

const longBuilds = healthy("long-builds", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(4, 9); round > 0; round -= 1) {
    someWork(story, project, 1, 2);
    story.step(bash(project.build, "Build finished", true, dice.between(2, 25) * MINUTE));
    if (dice.chance(0.3)) story.step(bash("ls dist", "index.js\nindex.d.ts"));
  }
  story.step(commit(dice));
});

const longThinking = healthy("long-thinking", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(5, 10); round > 0; round -= 1) {
    story.pass(dice.between(3, 14) * MINUTE);
    if (dice.chance(0.5)) story.say("I see how these two belong together now.");
    if (dice.chance(0.4)) story.step(read(dice.pick(project.files), dice));
    story.step(edit(dice.pick(project.files), dice));
  }
});

const polling = healthy("polling", (story, project) => {
  const { dice } = story;
  someWork(story, project);
  const way = dice.between(0, 3);
  const id = `bash_${dice.between(1, 9)}`;
  story.step(bash(`${project.build} > build.log 2>&1 &`, `Command running in background with ID: ${id}`));
  for (let count = dice.between(4, 20); count > 0; count -= 1) {
    if (way === 0)
      story.step({
        tool: "BashOutput",
        input: { bash_id: id },
        result: "<status>running</status>\n<stdout></stdout>",
        ms: 30,
      });
    else if (way === 1) story.step(bash("sleep 30 && tail -2 build.log", "Compiling…", true, 30_000));
    else if (way === 2) story.step(bash("gh run view 8124 --json status", '{"status":"in_progress"}'));
    else story.step(bash(`curl -s http://localhost:8080/jobs/${id}`, '{"id":7,"state":"running"}'));
    story.pass(dice.between(1, 60) * 1_000);
  }
  story.step(bash("tail -3 build.log", "Done in 412 s"));
  someWork(story, project);
  story.step(commit(dice));
});

const testFix = healthy("test-fix", (story, project) => {
  const { dice } = story;
  const total = dice.between(30, 90);
  let failed = dice.between(5, 12);
  while (failed > 0) {
    for (let tries = dice.between(1, 3); tries > 0; tries -= 1) story.step(edit(dice.pick(project.files), dice));
    story.step(bash(project.test, project.failing(failed, total, dice.between(2, 40)), false));
    if (dice.chance(0.3)) story.step(read(dice.pick(project.files), dice));
    // Now and then a try changes nothing, and once in a while it makes things worse.
    failed += dice.chance(0.2) ? 0 : dice.chance(0.1) ? 1 : -dice.between(1, 3);
  }
  story.step(edit(dice.pick(project.files), dice));
  story.step(bash(project.test, project.passing(total, 12)));
  story.step(commit(dice));
});

const readingMany = healthy("reading-many", (story, project) => {
  const { dice } = story;
  const files = dice.shuffled(project.files);
  for (let at = 0, steps = dice.between(12, 34); at < steps; at += 1) {
    const side = dice.chance(0.3) ? dice.between(2, 4) : 1;
    story.step(...files.splice(0, side).map((file) => read(file, dice)));
    if (dice.chance(0.2))
      story.step(grep(dice.pick(project.words), `${dice.pick(project.files)}:${dice.between(1, 300)}: found`));
  }
  someWork(story, project);
});

const shellReading = healthy("shell-reading", (story, project) => {
  const { dice } = story;
  for (let at = dice.between(10, 26); at > 0; at -= 1) {
    const file = dice.pick(project.files);
    const from = dice.between(1, 400);
    story.step(
      dice.pick([
        () => bash(`sed -n '${from},${from + 60}p' ${file}`, `${file} lines ${from}`),
        () => bash(`git log --oneline -5 -- ${file}`, `${dice.between(1e6, 9e6)} Change ${file}`),
        () => bash(`cat ${file} | head -50`, `// ${file}\n${dice.between(1, 1e6)}`),
        () => bash(`ls -la ${file.replace(/\/[^/]*$/, "")}`, `total ${dice.between(8, 400)}\n${file}`),
      ])(),
    );
  }
  someWork(story, project);
});

const waitingForPerson = healthy("waiting-for-person", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(2, 5); round > 0; round -= 1) {
    for (let looks = dice.between(2, 6); looks > 0; looks -= 1) story.step(read(dice.pick(project.files), dice));
    if (dice.chance(0.4)) story.step(edit(dice.pick(project.files), dice));
    story.end("Which of the two do you want? I go on as soon as I know.");
    story.pass(dice.between(10, 600) * MINUTE);
    story.prompt();
  }
  someWork(story, project);
});

const searching = healthy("searching", (story, project) => {
  const { dice } = story;
  someWork(story, project, 0, 2);
  const word = dice.pick(project.words);
  const forms = [
    word,
    word.toLowerCase(),
    word.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
    word.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`),
    `${word}s?`,
    `class ${word}`,
    `function ${word}`,
    `import.*${word}`,
  ];
  for (const form of dice.shuffled([
    ...new Set([...forms, ...dice.shuffled(project.words).slice(0, dice.between(2, 6))]),
  ])) {
    const found = dice.chance(0.3);
    if (dice.chance(0.5)) story.step(grep(form, found ? `${dice.pick(project.files)}:12:${form}` : "No matches found"));
    else story.step(bash(`grep -rn '${form}' src`, found ? `src/a.ts:3:${form}` : "Exit code 1", found));
  }
  story.step(read(dice.pick(project.files), dice));
  someWork(story, project);
});

const setbacks = healthy("setbacks", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(4, 8); round > 0; round -= 1) {
    const file = dice.pick(project.files);
    story.step(read(file, dice));
    if (dice.chance(0.5)) {
      story.step(failedEdit(file, `line ${dice.between(1, 9_999)}`));
      story.step(read(file, dice));
    }
    story.step(edit(file, dice));
    if (dice.chance(0.4)) {
      story.step(
        bash(
          `npx tsc --noEmit -p ${file}`,
          `Exit code 2\n${file}(${dice.between(1, 200)},3): error TS2322: Type mismatch`,
          false,
        ),
      );
      story.step(edit(file, dice));
    }
    if (dice.chance(0.3)) story.step(bash("git status --short", ` M ${file}`));
    if (dice.chance(0.2))
      story.step(bash("cat missing.txt", "Exit code 1\ncat: missing.txt: No such file or directory", false));
  }
  story.step(commit(dice));
});

const renaming = healthy("renaming", (story, project) => {
  const { dice } = story;
  const [from, to] = dice.shuffled(project.words);
  for (const file of dice.shuffled(project.files).slice(0, dice.between(8, 20))) {
    story.step({
      tool: "Edit",
      input: { file_path: `/repo/wt/${file}`, old_string: `import { ${from} }`, new_string: `import { ${to} }` },
      result: "The file has been updated.",
    });
    if (dice.chance(0.15)) story.step(bash(project.build, "Build finished", true, 8_000));
  }
  story.step(commit(dice));
});

const bookkeeping = healthy("bookkeeping", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(6, 12); round > 0; round -= 1) {
    story.step(todos(dice));
    if (dice.chance(0.5)) story.step(bash("git status --short", ""), bash("git diff --stat", ""));
    story.step(read(dice.pick(project.files), dice));
    story.step(edit(dice.pick(project.files), dice));
    if (dice.chance(0.4)) story.step(commit(dice));
  }
});

const scouting = healthy(
  "scouting",
  (story, project) => {
    const { dice } = story;
    const files = dice.shuffled(project.files);
    for (let at = dice.between(25, 80); at > 0; at -= 1) {
      story.step(dice.chance(0.3) ? grep(dice.pick(project.words), `${files[at]}:4`) : read(files[at] ?? "", dice));
    }
    story.step(bash("overseer mail send lead --subject found --body 'It is in the ledger'", "Sent m_1"));
    story.end("It is in the ledger.");
  },
  "scout",
);

const wideContext = healthy("wide-context", (story, project) => {
  const { dice } = story;
  for (let share = 0.3; share < 0.74; share += 0.06) {
    story.fill(share);
    someWork(story, project, 1, 2);
  }
  if (dice.chance(0.5)) {
    story.compact("manual");
    someWork(story, project, 2, 4);
  }
  story.step(commit(dice));
});

const greenfield = healthy("greenfield", (story, project) => {
  const { dice } = story;
  for (const file of dice.shuffled(project.files).slice(0, dice.between(5, 12))) {
    story.step({
      tool: "Write",
      input: { file_path: `/repo/wt/${file}`, content: `// ${file}` },
      result: `File created successfully at: /repo/wt/${file}`,
    });
    if (dice.chance(0.3)) story.step(bash(`mkdir -p ${file.replace(/\/[^/]*$/, "")}/fixtures`, ""));
  }
  story.step(bash(project.test, project.failing(4, 10, 3), false));
  story.step(edit(dice.pick(project.files), dice));
  story.step(bash(project.test, project.passing(10, 3)));
  story.step(commit(dice));
});

const CANCELLED = "<tool_use_error>Sibling tool call errored</tool_use_error>";

/** One of several calls fails, and the CLI does not make the others. */
const cancelledSiblings = healthy("cancelled-siblings", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(3, 5); round > 0; round -= 1) {
    const uses = [
      bash(`npx ${dice.pick(project.words)} ${round}`, `Exit code 1\nerror: no ${dice.pick(project.words)}`, false),
      ...Array.from({ length: dice.between(2, 4) }, () => bash(`cat ${dice.pick(project.files)}`, CANCELLED, false)),
      { ...read(dice.pick(project.files), dice), ok: false, result: CANCELLED },
      { ...grep(dice.pick(project.words), CANCELLED), ok: false },
    ];
    story.step(...uses);
    story.step(read(dice.pick(project.files), dice), read(dice.pick(project.files), dice));
    story.step(edit(dice.pick(project.files), dice));
  }
  story.step(commit(dice));
});

/** Ten agents of its own at once, then their answers. */
const sideBySide = healthy("side-by-side", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(1, 3); round > 0; round -= 1) {
    const words = dice.shuffled(project.words).slice(0, 10);
    story.step(
      ...words.map((word) => ({
        tool: "Agent",
        input: { description: `Look into ${word}`, prompt: `Find every use of ${word}.`, run_in_background: true },
        result: "Async agent launched successfully.",
      })),
    );
    story.step(...Array.from({ length: 6 }, () => grep(dice.pick(project.words), "No matches found")));
    someWork(story, project, 1, 2);
  }
});

/** A lead: it writes tasks, gives them out, looks at the list, and waits. */
const leading = healthy("leading", (story, project) => {
  const { dice } = story;
  const count = dice.between(24, 32);
  for (let task = 1; task <= count; task += 1) {
    story.step({
      tool: "TaskCreate",
      input: { subject: `Part ${task}`, description: dice.pick(project.words) },
      result: `Task #${task} created successfully: Part ${task}`,
    });
  }
  for (let round = dice.between(20, 40); round > 0; round -= 1) {
    const task = dice.between(1, count);
    story.step({ tool: "TaskList", input: {}, result: `#${task} [in_progress] Part ${task}\n#2 [pending] Part 2` });
    if (dice.chance(0.4))
      story.step({
        tool: "SendMessage",
        input: { to: `worker-${task % 4}`, message: `Take part ${task}, round ${round}.` },
        result: "Message sent",
      });
    else if (dice.chance(0.5))
      story.step({
        tool: "TaskUpdate",
        input: { taskId: `${task}`, status: "completed", round },
        result: "Updated task",
      });
    else story.step(bash("sleep 60", "", true, 60_000));
  }
});

/** Nothing to be done but to wait, for long. */
const waitingForWorkers = healthy("waiting-for-workers", (story, project) => {
  const { dice } = story;
  someWork(story, project);
  for (let round = dice.between(60, 90); round > 0; round -= 1) {
    story.step(
      dice.pick([
        { tool: "TaskOutput", input: { task_id: "a1", block: true }, result: "<status>running</status>" },
        { tool: "TaskList", input: {}, result: "#1 [in_progress] One\n#2 [in_progress] Two" },
        bash("sleep 45", "", true, 45_000),
      ]),
    );
  }
  someWork(story, project);
});

/** Looks that fail beside others that work. */
const exploringSandbox = healthy("exploring-a-sandbox", (story, project) => {
  const { dice } = story;
  for (let round = dice.between(4, 8); round > 0; round -= 1) {
    story.step(
      bash(`git -C /repo/${dice.pick(project.words)} status`, "Exit code 128\nfatal: not a git repository", false),
      read(dice.pick(project.files), dice),
    );
    story.step(
      bash(
        `sed -n '1,40p' ${dice.pick(project.words)}.c`,
        "Exit code 2\nsed: can't read it: No such file or directory",
        false,
      ),
    );
    story.step(
      bash(`ping -c 1 ${dice.pick(project.words)}`, "Exit code 1\nping: socket: Operation not permitted", false),
      read(dice.pick(project.files), dice),
    );
    someWork(story, project, 1, 1);
  }
});

/** PowerShell by way of another shell: other words to look for, and often nothing to be found. */
const powershellLooks = healthy("powershell-looks", (story, project) => {
  const { dice } = story;
  for (let at = dice.between(10, 26); at > 0; at -= 1) {
    const file = dice.pick(project.files).replaceAll("/", "\\");
    const word = dice.pick(project.words);
    story.step(
      dice.pick([
        () => bash(`pwsh.exe -NoLogo -Command Get-Content ${file} -TotalCount 260 | Select-String "${word}${at}"`, ""),
        () => bash(`powershell -NoProfile -Command "Select-String -Path ${file} -Pattern ${word}${at}"`, ""),
        () => bash(`pwsh -Command $p='${file}'; $lines=Get-Content $p; $lines[${at}..${at + 9}]`, `${file} ${at}`),
        () => bash(`cmd /c dir ${file}`, `Directory of ${file}\n${dice.between(1, 1e6)} bytes`),
      ])(),
    );
  }
  someWork(story, project);
});

/** A large repository is read for a hundred steps before the first change. */
const readingForLong = healthy("reading-for-long", (story, project) => {
  const { dice } = story;
  for (let at = dice.between(100, 120); at > 0; at -= 1) {
    const file = dice.pick(project.files);
    story.step(
      bash(`sed -n '${at * 40},${at * 40 + 39}p' ${file}`, `${file} from ${at * 40}: ${dice.between(1, 1e6)}`),
    );
  }
  someWork(story, project);
});

export const HEALTHY: readonly (readonly [times: number, episode: Episode])[] = [
  [12, longBuilds],
  [10, longThinking],
  [16, polling],
  [16, testFix],
  [12, readingMany],
  [10, shellReading],
  [10, waitingForPerson],
  [14, searching],
  [12, setbacks],
  [8, renaming],
  [8, bookkeeping],
  [8, scouting],
  [8, wideContext],
  [8, greenfield],
  [8, cancelledSiblings],
  [8, sideBySide],
  [8, leading],
  [8, waitingForWorkers],
  [8, exploringSandbox],
  [8, powershellLooks],
  [4, readingForLong],
];
