/**
 * What a plan changes, as lines: `+` is added, `~` changed, with its fields, `-` would be cancelled, `!` stands in the way.
 * Pure; what is long is cut, and where there is much of it counted, unless `full`.
 */
import type { FieldChange, PlanChanges } from "#domain/plans/plan-diff.ts";
import { wrapText } from "./conversation-lines.ts";
import { type PlanLook, paint } from "./plan-lines.ts";
import { fit, inert, plural } from "./text.ts";

/** About three screens, as a plan itself. */
const MOST_LINES = 80;
/** Of each kind, where there is more than that. */
const MOST_NODES = 15;

type DiffTone = Parameters<typeof paint>[1];
interface DiffLine {
  readonly text: string;
  readonly tone: DiffTone;
  /** Where it continues, when it is broken. */
  readonly indent: string;
}

export function planDiffLines(changes: PlanChanges, look: PlanLook): string[] {
  const whole = groupsOf(changes, true);
  const fits = look.full || whole.flat(2).length <= MOST_LINES;
  const groups = fits ? whole : groupsOf(changes, false).map(capGroup);
  const lines = [...groups.flat(2), summarize(changes)];
  return lines.flatMap(({ text, tone, indent }) =>
    look.full
      ? wrapText(text, look.columns - indent.length).map((row, at) =>
          paint(at === 0 ? row : `${indent}${row}`, tone, look.colour),
        )
      : [paint(fit(text, look.columns), tone, look.colour)],
  );
}

/** By kind of change, then by node. */
function groupsOf(changes: PlanChanges, withFields: boolean): DiffLine[][][] {
  const fieldsOf = (fields: readonly FieldChange[]) => (withFields ? fields.flatMap(tellField) : []);
  return [
    changes.refused.map(({ node, fields }) => [
      line(
        "!",
        node.workNodeId,
        node.name,
        `${node.status} already, and this changes it: the plan is refused`,
        "trouble",
      ),
      ...fieldsOf(fields),
    ]),
    changes.added.map(({ id, name, parentId }) => [
      line("+", id, name, parentId === null ? "" : `in ${parentId}`, "done"),
    ]),
    changes.changed.map(({ node, fields, inFlight }) => [
      line("~", node.workNodeId, node.name, inFlight === null ? "" : `in flight: ${inFlight}`, "critical"),
      ...fieldsOf(fields),
    ]),
    changes.leftOut.map(({ node, inFlight }) => [
      line("-", node.workNodeId, node.name, tellLeftOut(node.status, inFlight), "trouble"),
    ]),
    changes.stayCancelled.map((id) => [
      { text: `! ${inert(id)}  was cancelled before and stays so: it takes a new id`, tone: "trouble", indent: "  " },
    ]),
  ];
}

function line(sign: string, id: string, name: string, aside: string, tone: DiffTone): DiffLine {
  const text = `${sign} ${inert(id)}  ${inert(name)}${aside === "" ? "" : `  (${inert(aside)})`}`;
  return { text, tone, indent: "  " };
}

function tellLeftOut(status: string, inFlight: string | null): string {
  const said = `${status.replace("_", " ")}, would be cancelled`;
  if (inFlight === null) return said;
  return inFlight === "reported done"
    ? `${said}; in flight: it is reported done`
    : `${said}; in flight: ${inFlight} would be stopped, its work kept`;
}

function capGroup(group: DiffLine[][]): DiffLine[][] {
  const more = group.length - MOST_NODES;
  if (more <= 1) return group;
  const sign = group[0]?.[0]?.text.slice(0, 1) ?? "";
  return [...group.slice(0, MOST_NODES), [{ text: `${sign} … and ${more} more`, tone: "faint", indent: "  " }]];
}

/** One value on a line with what it becomes; of lists, what comes and what goes. */
function tellField({ field, before, after }: FieldChange): DiffLine[] {
  const say = (text: string): DiffLine => ({ text: `    ${field}${text}`, tone: "faint", indent: "      " });
  const isList = before.length > 1 || after.length > 1;
  if (!isList) return [say(`: ${inert(before[0] ?? "none")} → ${inert(after[0] ?? "none")}`)];
  const gone = before.filter((one) => !after.includes(one));
  const come = after.filter((one) => !before.includes(one));
  if (gone.length + come.length === 0) return [say(": in another order")];
  return [...gone.map((one) => say(` - ${inert(one)}`)), ...come.map((one) => say(` + ${inert(one)}`))];
}

function summarize({ added, changed, leftOut, kept, finished }: PlanChanges): DiffLine {
  const isNothing = added.length + changed.length + leftOut.length === 0;
  const counts = [
    isNothing ? "Nothing changes" : `${plural(added.length, "node")} added`,
    changed.length > 0 ? `${changed.length} changed` : "",
    leftOut.length > 0 ? `${leftOut.length} would be cancelled` : "",
    kept.length > 0 ? `${kept.length} kept` : "",
    finished.length > 0 ? `${finished.length} finished and untouched` : "",
  ].filter((text) => text !== "");
  return { text: `${counts.join(", ")}.`, tone: "plain", indent: "" };
}
