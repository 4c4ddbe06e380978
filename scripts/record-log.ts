/**
 * Records a log and the tables it folds into, as test/logs/NNNN.ndjson: run once for a release that changes what events
 * look like, never again for one that is recorded. A test folds every recorded log for ever.
 *
 * bun scripts/record-log.ts <number, as 0001> <database>
 */
import { openForReading } from "../src/store/open.ts";

const [number = "", path = ""] = Bun.argv.slice(2);
const file = Bun.file(`${import.meta.dir}/../test/logs/${number}.ndjson`);
if (!/^\d{4}$/.test(number) || (await file.exists())) {
  console.error(`"${number}" is no number of four digits, or is recorded already.`);
  process.exit(2);
}
const store = await openForReading({ address: path });
const lines = [
  ...(await store.log({ after: 0, limit: 1_000_000 })).map((event) => JSON.stringify({ event })),
  ...(await store.dump()).map((row) => JSON.stringify({ row })),
];
await store.close();
await Bun.write(file, `${lines.join("\n")}\n`);
console.log(`${lines.length} lines in ${file.name}`);
