/** The words in which an agent hears what was found: the tag, the anomaly with its evidence, one action. */
import type { Course } from "./reflex-course.ts";
import type { Anomaly, AnomalyFinding, ReflexRules } from "./reflex-rules.ts";

/** STEER-1: the tag, the anomaly, one action; two or three sentences. */
export function steeringText({ anomaly, fact, about }: AnomalyFinding, course: Course, rules: ReflexRules): string {
  // Elsewhere the fact names the call it is about, which need not be the last one.
  const lately = LED_NOWHERE.has(anomaly) && about === undefined && course.doing !== "";
  const said = `[SUPERVISOR] ${HEADINGS[anomaly]}: ${fact}${lately ? `, lately ${course.doing}` : ""}.`;
  const action = ACTIONS[anomaly];
  return action === undefined ? `${said} ${paceText(rules, anomaly)}` : `${said} ${action}`;
}

const LED_NOWHERE: ReadonlySet<Anomaly> = new Set(["stall", "contingent", "emergency"]);

function paceText({ pace }: ReflexRules, anomaly: Anomaly): string {
  return (anomaly === "emergency" ? pace.emergency : pace.contingent).replace(/\s+/g, " ").trim();
}

const HEADINGS: Readonly<Record<Anomaly, string>> = {
  emergency: "PACE emergency",
  "context-urgent": "Hardly any room is left",
  cascade: "Several tools are failing",
  oscillation: "You are going back and forth",
  loop: "You are repeating yourself",
  blocked: "A person is needed",
  hunt: "You are looking for something that is not there",
  churn: "The same check keeps failing",
  polling: "Waiting fills your context",
  contingent: "PACE contingent",
  stall: "You appear stalled",
  context: "It is time to wrap up",
};

/** One action each; at PACE levels the role says what to do. */
const ACTIONS: Readonly<Partial<Record<Anomaly, string>>> = {
  "context-urgent":
    "Finish only the step at hand, commit what is sound, and answer now with what is done and what is left.",
  cascade:
    "Stop executing and verify the ground first: the directory you are in, the paths you use, and that the tools are there.",
  oscillation: "Leave both ways: find out why the first one fails before you run anything else.",
  loop: "Doing it again will not change the result, so take a different approach.",
  blocked: "Do what can be done without it.",
  hunt: "Stop looking: do without it, set it up the way this project says, or ask whoever gave you the work.",
  churn:
    "Stop editing: say in one sentence why it fails and how you know, make the smallest case that shows it, or ask.",
  polling: "Wait once and for longer, by one command that ends with the job, and read only its last lines.",
  stall:
    "Reassess: say in one sentence what holds you up, then take a smaller or different step, or ask if only somebody else can settle it.",
  context: "Finish the task at hand and commit it before you begin anything else.",
};
