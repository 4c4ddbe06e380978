/**
 * What happens in the demo: a small repository with a real check, a plan of three phases, and a script for each agent that
 * says what goes wrong in its life. Everything is data; what comes of it is up to the fleet that is given it. The agents'
 * scripts travel in the tasks' texts, as anybody can write them (see `overseer sling --help`).
 */

import {
  CHOICES,
  type Phase,
  type Production,
  planFile,
  QUESTION,
  type StoryOptions,
  type Task as TaskOf,
} from "./production.ts";

type Step = Readonly<Record<string, unknown>> | string;

type Task = TaskOf & { readonly steps: readonly Step[] };

/** The tasks that do not go as planned, and what is staged in each. */
export const STAGED = { hangs: "T2", lies: "T3", loops: "T4", dies: "T5", asks: "T6" } as const;
/** These two add to the same place of the same file; the second takes its time until the first has landed. */
const FIRST_AT_README = "T7";
const SECOND_AT_README = "T8";

const GREETINGS: Readonly<Record<string, string>> = {
  english: "Hello, Ada!",
  french: "Bonjour, Ada !",
  german: "Hallo, Ada!",
  japanese: "こんにちは、Ada!",
  spanish: "¡Hola, Ada!",
  italian: "Ciao, Ada!",
  dutch: "Hoi, Ada!",
  swedish: "Hej, Ada!",
  polish: "Cześć, Ada!",
  czech: "Ahoj, Ada!",
  turkish: "Merhaba, Ada!",
  finnish: "Moi, Ada!",
};

/** Languages nothing is staged for; so many agents more, so many of these. */
const SPARE = ["italian", "dutch", "swedish", "polish", "czech", "turkish", "finnish"];
const USUAL_AGENTS = 4;
export const FEWEST_AGENTS = 3;
export const MOST_AGENTS = USUAL_AGENTS + SPARE.length;

const CHECK = `#!/bin/sh
# Every greeting has to say what expected/ says it says.
status=0
for program in greetings/*.sh; do
  [ -e "$program" ] || continue
  name=$(basename "$program" .sh)
  said=$(sh "$program" Ada)
  wanted=$(cat "expected/$name")
  if [ "$said" != "$wanted" ]; then
    echo "$name: says '$said', should say '$wanted'"
    status=1
  fi
done
exit $status
`;

const README = "# Greetings\n\nGreets people in their own language.\n";
const ADDING = "\n## Adding a language\n\nA program in greetings/, and what it says in expected/.\n";
const TRYING = "\n## Trying it\n\nRun `sh greetings/english.sh Ada`.\n";

/** The repository before anybody has worked on it. */
export function repositoryFiles(): Readonly<Record<string, string>> {
  const expected = Object.entries(GREETINGS).map(([name, text]) => [`expected/${name}`, `${text}\n`] as const);
  return {
    "README.md": README,
    "test.sh": CHECK,
    ...Object.fromEntries(expected),
  };
}

/** Everything that waits for minutes in a real fleet waits for a moment here. */
function configuration({ agents, speed }: StoryOptions): string {
  const ms = (base: number, least: number) => `${Math.max(least, Math.round(base / speed))}ms`;
  return `# The demo's own configuration: short waits, so that it ends soon. Yours has minutes where this has moments.
runtime: scripted
agents: {maxConcurrent: ${agents}, stagger: 0s, startsPerMinute: 1000, stopGrace: 1s}
capacity: {loadFactor: 1000, minMemory: 1B, minMemoryPercent: 0, minDisk: 1B, minDiskPercent: 0}
landing: {mode: auto}
reconcile:
  tickEvery: ${ms(500, 100)}
recovery:
  silentAfter: ${ms(3_000, 1_000)}
  nextStepAfter: ${ms(700, 100)}
  steps: {hints: 1, warnings: 1, lastWarnings: 1, interrupts: 1}
  backoff: {base: 100ms, max: 1s}
  sameWordsAfter: 100ms
  judgedFromAge: 100ms
checks:
  greetings: {command: "sh test.sh", on: [done, land], timeout: 30s, protected: [test.sh, "expected/**"]}
`;
}

const program = (name: string) => `greetings/${name}.sh`;
const greet = (name: string, text = GREETINGS[name] ?? ""): Step => ({
  edit: { file: program(name), content: `echo '${text.replace("Ada", "'\"$1\"'")}'\n` },
});
const think = (ms: number): Step => ({ think: { ms } });
const commit = (message: string): Step => ({ commit: message });
const reportDone = (summary: string): Step => ({ report: { status: "done", summary } });

function diligent(name: string): Step[] {
  return [
    { say: `I look at how greetings are written here, then add ${name}.` },
    think(600),
    greet(name),
    think(400),
    commit(`Greet in ${name}`),
    reportDone(`${name} greets`),
  ];
}

function greeting(id: string, name: string, steps: readonly Step[] = diligent(name)): Task {
  return { id, name: `Greet in ${name}`, text: `Add ${program(name)}, which greets its argument in ${name}.`, steps };
}

const HANGS: Step[] = [
  greet("french"),
  commit("Greet in french"),
  { report: { status: "in_progress", summary: "french is written", next: "look at it once more" } },
  { ignore: { messages: "content" } },
  { hang: { in: "thought", once: "anywhere" } },
  reportDone("french greets"),
];

const LIES: Step[] = [
  think(400),
  greet("german", "Hallo Ada"),
  commit("Greet in german"),
  {
    on: {
      message: "greetings",
      do: [
        { say: "The check is right; I fix it." },
        greet("german"),
        commit("Greet in german, truly"),
        reportDone("german greets"),
      ],
    },
  },
  reportDone("german greets; all checks pass"),
];

/** It would run the same command for ever; only the reflex, which its own hooks carry, tells it otherwise. */
const LOOPS: Step[] = [
  {
    on: {
      message: "SUPERVISOR",
      do: [
        { say: "There is no dictionary here, however often I look. I write down what expected/spanish says." },
        greet("spanish"),
        commit("Greet in spanish"),
        { run: "overseer work report --status done --summary 'spanish greets'" },
        "wait",
      ],
    },
  },
  { loop: { steps: [{ run: "grep -i hello dictionary/spanish" }] } },
];

const DIES: Step[] = [
  greet("japanese"),
  { die: { at: "now", signal: "SIGKILL", once: true } },
  commit("Greet in japanese"),
  reportDone("japanese greets"),
];

const ASKS: Step[] = [
  {
    ask: {
      question: QUESTION,
      options: CHOICES,
      cli: ["overseer", "ask", QUESTION, ...CHOICES.flatMap((choice) => ["--option", choice])],
    },
  },
  { edit: { file: "front-page.txt", content: "Welcome.\n" } },
  commit("Add the front page"),
  reportDone("The front page is there"),
];

/** What it read is out of date when it writes: so it is with agents that work side by side, here by arrangement. */
const UNTIL_THE_FIRST_IS_THERE: Step = {
  run: "timeout 60 sh -c 'until git show main:README.md | grep -q Adding; do sleep 0.1; done'",
};

/** Adds its section to the README and, once somebody else's has landed there, brings the two together. */
function documents(id: string, name: string, section: string, before: readonly Step[]): Task {
  const steps: Step[] = [
    {
      on: {
        message: "conflicts with",
        do: [
          { run: "git merge --no-edit main" },
          { say: "Both sections belong there." },
          { edit: { file: "README.md", content: README + ADDING + TRYING } },
          commit(`${name}, beside what was added meanwhile`),
          reportDone("Both sections are there"),
        ],
      },
    },
    { read: "README.md" },
    ...before,
    { edit: { file: "README.md", content: README + section } },
    commit(name),
    reportDone("The README says it"),
  ];
  return { id, name, text: "Add a section to README.md.", steps };
}

function writes(id: string, name: string, file: string, content: string): Task {
  const steps = [think(500), { edit: { file, content } }, think(300), commit(name), reportDone(`${file} is there`)];
  return { id, name, text: `Write ${file}.`, steps };
}

function phases({ agents }: StoryOptions): Phase<Task>[] {
  const spare = SPARE.slice(0, Math.max(0, agents - USUAL_AGENTS));
  const rest = {
    id: "P4",
    name: "Greet the rest",
    tasks: spare.map((name, index) => greeting(`T${index + 10}`, name)),
  };
  return [
    {
      id: "P1",
      name: "Greet",
      tasks: [
        greeting("T1", "english"),
        greeting(STAGED.hangs, "french", HANGS),
        greeting(STAGED.lies, "german", LIES),
        greeting(STAGED.loops, "spanish", LOOPS),
      ],
    },
    {
      id: "P2",
      name: "Greet more",
      dependsOn: ["P1"],
      tasks: [
        documents(FIRST_AT_README, "Say how to add a language", ADDING, [think(200)]),
        documents(SECOND_AT_README, "Say how to try it", TRYING, [UNTIL_THE_FIRST_IS_THERE]),
        greeting(STAGED.dies, "japanese", DIES),
        {
          id: STAGED.asks,
          name: "Add the front page",
          text: "Write front-page.txt; ask a person how it greets.",
          steps: ASKS,
        },
      ],
    },
    {
      id: "P3",
      name: "Release",
      dependsOn: ["P2", ...(spare.length === 0 ? [] : [rest.id])],
      tasks: [writes("T9", "Write the release notes", "NEWS.md", "# News\n\nGreets in many languages.\n")],
    },
    ...(spare.length === 0 ? [] : [rest]),
  ];
}

/** The whole story, played by scripted agents: the scripts travel in the tasks' texts. */
export function makeScriptedStory(options: StoryOptions): Production {
  const plan = phases(options);
  return {
    runtime: "scripted",
    tasks: plan.reduce((count, { tasks }) => count + tasks.length, 0),
    configuration: configuration(options),
    plan: planFile(plan, ({ text, steps }) => `${text} @@SCRIPT${JSON.stringify(steps)}@@END`),
    asks: STAGED.asks,
    dies: STAGED.dies,
    environment: { OVERSEER_SCRIPT_SPEED: String(options.speed) },
    longestMs: 300_000,
  };
}
