/**
 * The demo with the person's own agent: the same repository, check, question and killed daemon, and a shorter plan,
 * because it costs money. Nobody can make somebody's agent hang, lie, loop or die on purpose, so none of that is staged;
 * two tasks add to the same place of the same file, so there may be a conflict. What it may cost is limited by budgets,
 * which are the fleet's own and hold like any other.
 */
import { CHOICES, type Phase, type Production, planFile, QUESTION, type StoryOptions } from "./production.ts";

/** US dollars, for each agent and for all of them together. */
export const MOST_PER_AGENT = 0.5;
export const MOST_IN_ALL = 2;

/** What the agent's CLI needs of the person's environment: who they are to it, and how it reaches its model. */
const ITS_OWN =
  /^(ANTHROPIC_\w+|CLAUDE_\w+|AWS_\w+|GOOGLE_\w+|CLOUD_ML_\w+|DISABLE_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/;
const PROXIES = /^(HTTPS?_PROXY|NO_PROXY|ALL_PROXY)$/i;
/** An agent that is itself started by another one must not take itself for that one. */
const NOT_ITS_OWN = /^CLAUDE_(CODE_SESSION_ID|CODE_ENTRYPOINT|PROJECT_DIR|PID)$/;

function ownOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isOwn = (name: string) => (ITS_OWN.test(name) || PROXIES.test(name)) && !NOT_ITS_OWN.test(name);
  return Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && isOwn(pair[0])),
  );
}

const greets = (id: string, language: string) => ({
  id,
  name: `Greet in ${language}`,
  text: `Write greetings/${language}.sh, a small POSIX shell script that greets its first argument in ${language}. What it has to print for the argument Ada is in expected/${language}.`,
});

const PHASES: readonly Phase[] = [
  { id: "P1", name: "Greet", tasks: [greets("T1", "english"), greets("T2", "french")] },
  {
    id: "P2",
    name: "Tell",
    dependsOn: ["P1"],
    tasks: [
      {
        id: "T3",
        name: "Say how to add a language",
        text: "Append a section '## Adding a language' with one sentence to the end of README.md: a program in greetings/, and what it says in expected/.",
      },
      {
        id: "T4",
        name: "Say how to try it",
        text: "Append a section '## Trying it' with one sentence to the end of README.md: run sh greetings/english.sh Ada.",
      },
      {
        id: "T5",
        name: "Add the front page",
        text: `First ask a person, by running: overseer ask '${QUESTION}' ${CHOICES.map((one) => `--option ${one}`).join(" ")} — then end your turn and wait for the answer. After it, write front-page.txt: one line that greets in that way.`,
      },
    ],
  },
];

const tasks = PHASES.reduce((count, phase) => count + phase.tasks.length, 0);

/** Said before anything is started. */
export const COST = [
  `This starts Claude Code, yours, with your login, ${tasks} times in a throw-away repository, each with a task of a few`,
  `lines. What that costs depends on your model and plan; each agent is held at about $${MOST_PER_AGENT.toFixed(2)}, all together at`,
  `$${MOST_IN_ALL.toFixed(2)}. With a subscription it counts towards your usage. Real: parallel work, checks, a question, a killed`,
  "daemon, landing. Not staged: agents that hang, lie, loop or die; yours cannot be made to. A conflict is likely, not",
  "certain.",
].join(" ");

export function ownAgentStory({ agents }: StoryOptions, env: Readonly<Record<string, string | undefined>>): Production {
  const own = ownOf(env);
  return {
    runtime: "claude-code",
    tasks,
    configuration: `# The demo's own configuration, for your own agent: every wait as long as usual, and a limit on what it may spend.
runtime: claude-code
agents: {maxConcurrent: ${agents}, stagger: 0s, startsPerMinute: 100, stopGrace: 2s, passEnv: ${JSON.stringify(Object.keys(own))}}
capacity: {loadFactor: 1000}
landing: {mode: auto}
reconcile: {tickEvery: 1s}
budgets: {agent: {cost: ${MOST_PER_AGENT}}, goal: {cost: ${MOST_IN_ALL}}}
checks:
  greetings: {command: "sh test.sh", on: [done, land], timeout: 30s, protected: [test.sh, "expected/**"]}
`,
    plan: planFile(PHASES, ({ text }) => text),
    asks: "T5",
    // Its login is in the person's home.
    environment: { ...own, ...(env.HOME === undefined ? {} : { HOME: env.HOME }) },
    longestMs: 20 * 60_000,
  };
}
