/** Questions about plans that models are asked for. */
import type { Goal } from "#domain/model/goal.ts";
import type { Query } from "./query.ts";
import { compareText, docs } from "./query.ts";

/** As a goal's document has it; quotes within a text are escaped there. */
const HAS_PLANNING = '"planning":{';

/** Open goals for which a model was asked, and that has not ended, the oldest first. */
export function listPlannedGoals(): Query<Goal[]> {
  return {
    sql: "select doc from goals where status in ('active', 'paused') and instr(doc, ?1) > 0 order by created_at, id",
    args: [HAS_PLANNING],
    read: (rows) => docs<Goal>(rows).filter(({ planning }) => planning != null),
    memory: (tables) =>
      [...tables.entities.goal.values()]
        .filter(({ status, planning }) => (status === "active" || status === "paused") && planning != null)
        .sort((a, b) => a.createdAt - b.createdAt || compareText(a.goalId, b.goalId)),
  };
}
