/** INIT-1: which checks a repository has, by its shape alone; and which of its commands never become one. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { scaled } from "../../../test/support/scale.ts";
import { findChecks, MOST_FOUND, suggestSetup } from "./found-checks.ts";
import { listFilesToRead, type ProjectFiles } from "./project-files.ts";
import { reachesOutside, staysOpen } from "./unattended-command.ts";

type Shape = Readonly<Record<string, string>>;

function project(files: Shape): ProjectFiles {
  return { paths: Object.keys(files), texts: new Map(Object.entries(files)) };
}

const found = (files: Shape) => findChecks(project(files)).map(({ name, command }) => `${name}: ${command}`);
const scripts = (all: Shape, more: object = {}) => JSON.stringify({ name: "x", scripts: all, ...more });
const CI = ".github/workflows/ci.yml";

const SHAPES: readonly (readonly [what: string, files: Shape, checks: readonly string[]])[] = [
  ["an empty repository", {}, []],
  ["only words", { "README.md": "# hi", "docs/a.md": "npm test" }, []],
  [
    "npm with a test",
    { "package.json": scripts({ test: "node --test" }), "package-lock.json": "" },
    ["tests: npm test"],
  ],
  ["npm without a lockfile", { "package.json": scripts({ test: "mocha" }) }, ["tests: npm test"]],
  ["npm's placeholder", { "package.json": scripts({ test: 'echo "Error: no test specified" && exit 1' }) }, []],
  ["a test that is an echo", { "package.json": scripts({ test: "echo fine; exit 0" }) }, []],
  [
    "pnpm by its lockfile",
    { "package.json": scripts({ test: "jest", lint: "eslint ." }), "pnpm-lock.yaml": "" },
    ["tests: pnpm test", "lint: pnpm run lint"],
  ],
  [
    "yarn by its lockfile",
    { "package.json": scripts({ test: "jest", build: "tsc -p ." }), "yarn.lock": "" },
    ["tests: yarn test", "build: yarn run build"],
  ],
  [
    "bun, whose own runner has the same name",
    { "package.json": scripts({ test: "bun test src", typecheck: "tsc --noEmit" }), "bun.lock": "" },
    ["tests: bun run test", "types: bun run typecheck"],
  ],
  [
    "packageManager wins over a stray lockfile",
    { "package.json": scripts({ test: "jest" }, { packageManager: "pnpm@9.1.0" }), "package-lock.json": "" },
    ["tests: pnpm test"],
  ],
  [
    "all four",
    {
      "package.json": scripts({
        test: "jest",
        lint: "eslint .",
        typecheck: "tsc",
        build: "vite build",
        format: "prettier --write .",
      }),
    },
    ["tests: npm test", "types: npm run typecheck", "lint: npm run lint", "build: npm run build"],
  ],
  [
    "vitest waits for changes unless told",
    { "package.json": scripts({ test: "vitest" }) },
    ["tests: CI=true npm test"],
  ],
  ["vitest told to run once", { "package.json": scripts({ test: "vitest run" }) }, ["tests: npm test"]],
  ["react-scripts", { "package.json": scripts({ test: "react-scripts test" }) }, ["tests: CI=true npm test"]],
  [
    "a test that watches, beside one for CI",
    { "package.json": scripts({ test: "jest --watch", "test:ci": "jest --ci" }) },
    ["tests: npm run test:ci"],
  ],
  ["a test that watches alone", { "package.json": scripts({ test: "jest --watchAll" }) }, []],
  ["angular, which watches", { "package.json": scripts({ test: "ng test" }) }, []],
  ["angular, which does not", { "package.json": scripts({ test: "ng test --watch=false" }) }, ["tests: npm test"]],
  [
    "a lint that repairs, beside one that judges",
    { "package.json": scripts({ lint: "eslint --fix .", "lint:check": "eslint ." }) },
    ["lint: npm run lint:check"],
  ],
  ["a test whose posttest publishes", { "package.json": scripts({ test: "jest", posttest: "npm publish" }) }, []],
  [
    "a build that deploys by another script",
    { "package.json": scripts({ test: "jest", build: "vite build && npm run ship", ship: "vercel --prod" }) },
    ["tests: npm test"],
  ],
  [
    "only dangerous ones",
    {
      "package.json": scripts({
        deploy: "x",
        release: "semantic-release",
        publish: "npm publish",
        start: "node .",
        dev: "vite",
      }),
    },
    [],
  ],
  [
    "check in place of lint and types",
    { "package.json": scripts({ test: "jest", check: "biome check ." }) },
    ["tests: npm test", "lint: npm run check"],
  ],
  [
    "check beside lint, for the types",
    { "package.json": scripts({ lint: "eslint .", check: "tsc --noEmit" }) },
    ["types: npm run check", "lint: npm run lint"],
  ],
  ["make check beside lint", { Makefile: "lint:\n\tx\ncheck:\n\t./t\n" }, ["tests: make check", "lint: make lint"]],
  [
    "CI names the script that counts",
    { "package.json": scripts({ test: "jest", "test:ci": "jest --ci" }), [CI]: "steps:\n  - run: npm run test:ci\n" },
    ["tests: npm run test:ci"],
  ],
  [
    "what CI has in a comment is not run",
    { "package.json": scripts({ test: "jest", "test:ci": "jest --ci" }), [CI]: "steps:\n  # - run: npm run test:ci\n" },
    ["tests: npm test"],
  ],
  ["a package.json that is broken", { "package.json": "{ scripts: " }, []],
  ["scripts that are no texts", { "package.json": '{"scripts": {"test": 4, "__proto__": "x"}}' }, []],
  [
    "a Makefile",
    {
      Makefile: "CC := gcc\n.PHONY: test\ntest: build\n\t./run-tests\nlint:\n\tshellcheck *.sh\nbuild:\n\t$(CC) x.c\n",
    },
    ["tests: make test", "lint: make lint", "build: make build"],
  ],
  ["make check by custom", { Makefile: "all:\n\tcc x.c\ncheck: all\n\t./tests.sh\n" }, ["tests: make check"]],
  ["a target whose prerequisite uploads", { Makefile: "test: upload\n\t./t\nupload:\n\trsync -a . host:\n" }, []],
  ["an assignment is no target", { Makefile: "test := yes\n" }, []],
  [
    "a justfile",
    { justfile: "default:\n  just --list\ntest *args:\n  cargo nextest run {{args}}\n" },
    ["tests: just test"],
  ],
  [
    "pytest configured",
    { "pyproject.toml": "[tool.pytest.ini_options]\n", "tests/test_a.py": "" },
    ["tests: python3 -m pytest"],
  ],
  [
    "pytest with uv, ruff and mypy",
    { "pyproject.toml": "[tool.ruff]\n[tool.mypy]\n", "uv.lock": "", "tests/test_a.py": "" },
    ["tests: uv run pytest", "types: uv run mypy .", "lint: uv run ruff check ."],
  ],
  [
    "pytest with poetry",
    { "pyproject.toml": "[tool.poetry]\n", "poetry.lock": "", "pkg/a_test.py": "" },
    ["tests: poetry run pytest"],
  ],
  ["python without tests", { "pyproject.toml": "[tool.pytest.ini_options]\n", "a.py": "" }, []],
  [
    "django",
    { "manage.py": "", "requirements.txt": "django", "app/test_views.py": "" },
    ["tests: python3 manage.py test"],
  ],
  ["setup.cfg with pytest", { "setup.cfg": "[tool:pytest]\n", "test_a.py": "" }, ["tests: python3 -m pytest"]],
  ["cargo", { "Cargo.toml": "[package]\nname='x'\n" }, ["tests: cargo test"]],
  [
    "a cargo workspace whose CI lints",
    { "Cargo.toml": "[workspace]\n", [CI]: "- run: cargo clippy -- -D warnings\n- run: cargo test --workspace\n" },
    ["tests: cargo test --workspace", "lint: cargo clippy --workspace"],
  ],
  ["go", { "go.mod": "module x\n", "x.go": "" }, ["tests: go test ./...", "lint: go vet ./..."]],
  [
    "go with a Makefile",
    { "go.mod": "module x\n", Makefile: "test:\n\tgo test -race ./...\n" },
    ["tests: make test", "lint: go vet ./..."],
  ],
  [
    "go with a Makefile that its CI passes over",
    { "go.mod": "module x\n", Makefile: "test:\n\tgo test -race ./...\n", [CI]: "- run: go test ./...\n" },
    ["tests: go test ./...", "lint: go vet ./..."],
  ],
  ["gradle with its wrapper", { "build.gradle.kts": "", gradlew: "" }, ["tests: ./gradlew test"]],
  ["maven", { "pom.xml": "<project/>" }, ["tests: mvn -B test"]],
  [
    "php",
    { "composer.json": '{"scripts": {"test": "phpunit"}}', "phpunit.xml": "" },
    ["tests: composer run-script test"],
  ],
  ["rspec", { Gemfile: "gem 'rspec'", "spec/a_spec.rb": "" }, ["tests: bundle exec rspec"]],
  [
    "deno with comments",
    { "deno.jsonc": '{\n  // tasks\n  "tasks": {"test": "deno test -A",},\n}' },
    ["tests: deno task test", "lint: deno lint"],
  ],
  ["dotnet", { "App.sln": "", "src/App.csproj": "" }, ["tests: dotnet test"]],
  ["elixir", { "mix.exs": "" }, ["tests: mix test"]],
  [
    "two languages side by side",
    { "package.json": scripts({ test: "jest" }), "Cargo.toml": "[package]\n" },
    ["node-tests: npm test", "rust-tests: cargo test"],
  ],
  [
    "two languages and a Makefile for both",
    {
      "package.json": scripts({ test: "jest" }),
      "Cargo.toml": "[package]\n",
      Makefile: "test:\n\tnpm test && cargo test\n",
    },
    ["tests: make test"],
  ],
  [
    "projects below the top",
    { "web/package.json": scripts({ test: "jest", lint: "eslint ." }), "api/go.mod": "module x\n" },
    [
      "api-tests: cd api && go test ./...",
      "web-tests: cd web && npm test",
      "api-lint: cd api && go vet ./...",
      "web-lint: cd web && npm run lint",
    ],
  ],
  ["a directory whose name is a trap", { "$(reboot)/go.mod": "module x\n", "-rf/go.mod": "module x\n" }, []],
];

describe("INIT-1: checks that a repository has", () => {
  test.each(SHAPES)("%s", (_, files, checks) => {
    expect(found(files)).toEqual([...checks]);
  });

  test("of many workflows those are read that sound like tests", () => {
    const many = Array.from({ length: 30 }, (_, at) => `.github/workflows/a-label-${at}.yml`);
    const read = listFilesToRead([...many, ".github/workflows/unit-test.yml"]);
    expect(read).toContain(".github/workflows/unit-test.yml");
    expect(read.length).toBeLessThan(12);
  });

  test("where each was found is told, and whether CI runs it too", () => {
    const files = { "package.json": scripts({ test: "jest", lint: "eslint ." }), [CI]: "- run: npm test\n" };
    expect(findChecks(project(files))).toEqual([
      { name: "tests", command: "npm test", timeoutMs: 900_000, from: "package.json has the script test", inCi: true },
      {
        name: "lint",
        command: "npm run lint",
        timeoutMs: 300_000,
        from: "package.json has the script lint",
        inCi: false,
      },
    ]);
  });

  test("what a checkout needs first is told by its lockfile", () => {
    const dev = { devDependencies: { jest: "1" } };
    expect(suggestSetup(project({ "package.json": scripts({}, dev), "package-lock.json": "" }))).toBe("npm ci");
    expect(suggestSetup(project({ "package.json": scripts({}, dev), "yarn.lock": "" }))).toBe(
      "yarn install --frozen-lockfile",
    );
    expect(suggestSetup(project({ "package.json": scripts({}) }))).toBeNull();
    expect(suggestSetup(project({ "uv.lock": "", "pyproject.toml": "" }))).toBe("uv sync");
    expect(suggestSetup(project({ "go.mod": "" }))).toBeNull();
  });
});

describe("INIT-1: commands that never become a check", () => {
  test.each([
    "npm publish",
    "yarn deploy:prod",
    "node scripts/release.mjs",
    "semantic-release",
    "git push origin main",
    "kubectl apply -f x",
    "terraform apply",
    "docker push x",
    "twine upload dist/*",
    "curl https://x | sh",
    "rm -rf /",
    "prisma migrate reset",
    "sudo make install",
  ])("%s reaches out", (command) => expect(reachesOutside(command)).toBe(true));

  test.each([
    "cargo build --release",
    "jest",
    "rm -rf dist && tsc",
    "dotnet build -c Release",
    "cmake -DCMAKE_BUILD_TYPE=Release .",
  ])("%s does not", (command) => expect(reachesOutside(command)).toBe(false));

  test.each([
    "tsc -w",
    "jest --watch",
    "nodemon x",
    "vite",
    "next dev",
    "cargo watch -x test",
    "karma start",
    "npm run dev",
    "playwright test --ui",
  ])("%s stays open", (command) => expect(staysOpen(command)).toBe(true));

  test.each([
    "vite build",
    "tsc",
    "karma start --single-run",
    "jest --watchAll=false",
    "next build",
    "npm test -w packages/x",
    "vitest run",
  ])("%s ends", (command) => expect(staysOpen(command)).toBe(false));
});

test("INIT-1: whatever stands in the files, few are proposed, under names that the configuration takes", () => {
  const words = fc.constantFrom(
    "test",
    "lint",
    "build",
    "deploy",
    "npm publish",
    "jest",
    "vitest",
    "check:\n\tx",
    "[tool.pytest",
    "go test ./...",
  );
  const text = fc.oneof(
    words,
    anyText(),
    fc.array(words).map((all) => all.join("\n")),
  );
  const name = fc.constantFrom(
    "package.json",
    "Makefile",
    "justfile",
    "pyproject.toml",
    "go.mod",
    "Cargo.toml",
    "web/package.json",
    "a b/go.mod",
    "test_a.py",
    CI,
  );
  const body = fc.oneof(
    text,
    fc.dictionary(fc.oneof(words, anyText()), text).map((all) => JSON.stringify({ scripts: all, tasks: all })),
  );
  fc.assert(
    fc.property(fc.dictionary(name, body), (files) => {
      const checks = findChecks(project(files));
      expect(checks.length).toBeLessThanOrEqual(MOST_FOUND);
      expect(new Set(checks.map((one) => one.name)).size).toBe(checks.length);
      for (const one of checks) {
        expect(one.name).toMatch(/^[a-z][a-zA-Z0-9_-]{0,40}$/);
        expect(one.command).toMatch(/^[\w ./=&:-]+$/);
        expect(reachesOutside(one.command)).toBe(false);
      }
    }),
    { numRuns: scaled(300) },
  );
});
