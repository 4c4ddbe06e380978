/**
 * The numbered steps by which a database came to its present shape. Append-only: a released step is never changed.
 * The number of the last one is the schema version.
 */

import ground from "./migrations/0001_ground.sql" with { type: "text" };
import agents from "./migrations/0002_agents.sql" with { type: "text" };
import inbox from "./migrations/0003_inbox.sql" with { type: "text" };
import outbox from "./migrations/0004_outbox.sql" with { type: "text" };
import fleet from "./migrations/0005_fleet.sql" with { type: "text" };
import merges from "./migrations/0006_merges.sql" with { type: "text" };
import identity from "./migrations/0007_identity.sql" with { type: "text" };
import columns from "./migrations/0008_columns.sql" with { type: "text" };
import olderWriters from "./migrations/0009_older_writers.sql" with { type: "text" };
import costs from "./migrations/0010_costs.sql" with { type: "text" };
import health from "./migrations/0011_health.sql" with { type: "text" };
import learnings from "./migrations/0012_learnings.sql" with { type: "text" };

export const MIGRATIONS: readonly string[] = [
  ...[ground, agents, inbox, outbox, fleet, merges, identity],
  ...[columns, olderWriters, costs, health, learnings],
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * The oldest version whose programs may still read and write a database of the present one; `pragma user_version` says
 * it, because that is what they look at. Runners and hooks of agents that were started before an update come along until
 * their work is done, and what a program refuses to write is lost. A step that they would spoil raises this number, and
 * then `up` has to wait for those agents; one that adds, and looks after what it added itself, leaves it.
 */
export const OLDEST_SCHEMA = 7;
