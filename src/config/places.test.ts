import { expect, test } from "bun:test";
import { resolveConfigured, roleSources } from "./places.ts";
import { defaultConfig } from "./schema.ts";

const USUAL = { project: "/repo", userDir: "/repo/.overseer" };
const BARE = { project: "/repo.git", userDir: "/repo.git/overseer" };

const places: [why: string, configured: string, ground: typeof USUAL, path: string, shown: string][] = [
  ["a path of the project", "docs/agents", USUAL, "/repo/docs/agents", "docs/agents"],
  ["the state directory", ".overseer/agents", USUAL, "/repo/.overseer/agents", ".overseer/agents"],
  [
    "the state directory of a bare repository",
    ".overseer/agents",
    BARE,
    "/repo.git/overseer/agents",
    ".overseer/agents",
  ],
  ["an absolute path", "/srv/trees", USUAL, "/srv/trees", "/srv/trees"],
  ["beside the project", "../trees/", USUAL, "/trees", "../trees"],
];

test.each(places)("a configured path lies where one expects it: %s", (_why, configured, ground, path, shown) => {
  expect(resolveConfigured(ground, configured)).toEqual({ path, shown });
});

test("roles lie in the state directory, the manifest where it is configured", () => {
  const { agents } = defaultConfig();
  expect(roleSources(USUAL, { agents: { ...agents, manifest: "roles.yaml" } })).toEqual({
    directory: "/repo/.overseer/roles",
    manifest: { path: "/repo/roles.yaml", shown: "roles.yaml" },
  });
});
