/**
 * A process that makes or migrates a database, or backs one up again and again, for tests that kill it on the way.
 *
 * bun test/support/preparer.ts prepare|backup <database> <backup directory>
 */

import { prepareStore } from "#store/open.ts";
import { backUp } from "#store/sqlite/backup.ts";
import { connect } from "#store/sqlite/file.ts";

const [verb = "", path = "", backupDir = ""] = Bun.argv.slice(2);
console.log("ready");
if (verb === "prepare") await prepareStore({ address: path, backupDir, now: 0 });
else {
  const db = connect(path, true);
  for (let second = 0; ; second += 1) await backUp(db, { directory: backupDir, now: second * 1000, keep: 7 });
}
