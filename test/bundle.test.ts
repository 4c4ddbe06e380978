/**
 * The bundles that run at every tool call and every look at the fleet stay small because what they seldom need is left
 * outside. A module that is named as outside and imported by another spelling would be inside after all, unnoticed.
 */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundled } from "./support/cli.ts";

const project = join(import.meta.dir, "..");
beforeAll(bundled);

const read = (path: string) => readFileSync(join(project, path), "utf8");

test("what scripts/bundle.sh leaves outside of a small bundle is loaded by that very name", () => {
  const script = read("scripts/bundle.sh").replaceAll("\\\n", " ");
  const seldom = /for module in ([^;]*);/.exec(script)?.[1]?.trim().split(/\s+/) ?? [];
  const small = ["fast.js", "mail.js", "hook.js", "permit.js", "verb.js", "overseer.js"]
    .map((name) => read(`dist/${name}`))
    .join("\n");
  const outside = [
    ...seldom.map((module) => `#${module}.ts`),
    ...[...script.matchAll(/--external '([^']+)'/g)].map(([, name]) => name ?? ""),
  ];
  expect(outside.length).toBeGreaterThan(20);
  expect(outside.filter((name) => !small.includes(`"${name}"`))).toEqual([]);
});

test("HOOK-3: the permit's bundle brings no store and no redaction along", () => {
  const permit = read("dist/permit.js");
  expect(["create table", "PRIVATE KEY", "begin immediate"].filter((text) => permit.includes(text))).toEqual([]);
});

test("STATUS-1: the bundle of status brings no landing, no redaction and no live view along", () => {
  const fast = read("dist/fast.js");
  expect(["merge-tree", "PRIVATE KEY", "?1049h"].filter((text) => fast.includes(text))).toEqual([]);
});

test("OTEL-1: only the exporter's bundle brings the OpenTelemetry SDK along", () => {
  const bundles = [...new Bun.Glob("*.js").scanSync(join(project, "dist"))];
  expect(bundles.filter((name) => read(`dist/${name}`).includes("OTLPExporterError"))).toEqual(["exporter.js"]);
});

test("MCP-1: only the bundle of the server of tools brings the protocol's library along", () => {
  const bundles = [...new Bun.Glob("*.js").scanSync(join(project, "dist"))];
  expect(bundles.filter((name) => read(`dist/${name}`).includes("notifications/initialized"))).toEqual(["mcp.js"]);
});
