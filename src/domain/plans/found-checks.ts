/**
 * Which checks a project already has, judged by its files alone: scripts, targets, the usual command of its language, with
 * its CI as evidence of which of several is meant. What is found is proposed to a person and nothing more; whether it passes
 * on what is there is for a run of it to say (control/upkeep/propose-checks.ts). Never what publishes, serves or watches.
 */
import { callScript, expandScript, installCommand, readPackageScripts } from "./package-scripts.ts";
import { listNestedProjects, narrowTo, type ProjectFiles, readCi, readJsonObject, readTexts } from "./project-files.ts";
import { expandTarget, readTaskTargets } from "./task-targets.ts";
import { needsCiVariable, provesNothing, reachesOutside, repairsFiles, staysOpen } from "./unattended-command.ts";

export interface FoundCheck {
  /** A name that the configuration takes. */
  readonly name: string;
  readonly command: string;
  readonly timeoutMs: number;
  /** Where it was found, as a clause: "package.json has the script test". */
  readonly from: string;
  /** The project's own CI runs it too. */
  readonly inCi: boolean;
}

const KINDS = ["tests", "types", "lint", "build"] as const;
type Kind = (typeof KINDS)[number];

/** One way to check one thing, by one of the project's tools. */
interface Candidate {
  readonly kind: Kind;
  /** `node`, `rust`, …; `runner` for make and just, whose targets speak for all of them. */
  readonly tool: string;
  readonly command: string;
  readonly from: string;
  /** Somebody wrote it down for this project; else it is only what its language usually has. */
  readonly isNamed: boolean;
  /** How CI would say it. */
  readonly inCi: RegExp;
  readonly isSlow?: boolean;
}

const MINUTE = 60_000;
const TIMEOUTS: Readonly<Record<Kind, number>> = {
  tests: 15 * MINUTE,
  types: 5 * MINUTE,
  lint: 5 * MINUTE,
  build: 15 * MINUTE,
};
const SLOW_TIMEOUT = 30 * MINUTE;

/** More than a few are no proposal any more. */
export const MOST_FOUND = 4;

/** At most MOST_FOUND, tests first. Where the top has none, projects right below it are looked at. */
export function findChecks(project: ProjectFiles): FoundCheck[] {
  const ci = readCi(project);
  const atTop = chooseAll(listCandidates(project), ci);
  if (atTop.length > 0) return nameAll(atTop, ci).slice(0, MOST_FOUND);
  const below = listNestedProjects(project)
    .filter((directory) => /^[a-z][\w-]{0,24}$/i.test(directory))
    .map((directory) => {
      const found = nameAll(chooseAll(listCandidates(narrowTo(project, directory)), ci), ci);
      return found.map((one) => ({
        ...one,
        name: `${directory.slice(0, 1).toLowerCase()}${directory.slice(1)}-${one.name}`,
        command: `cd ${directory} && ${one.command}`,
        from: `${directory}/${one.from}`,
      }));
    });
  // The first of each before the second of any: three parts with tests and lint are three tests.
  const rounds = Math.max(0, ...below.map(({ length }) => length));
  const turns = Array.from({ length: rounds }, (_, at) => below.flatMap((found) => found[at] ?? []));
  return turns.flat().slice(0, MOST_FOUND);
}

/** What a fresh checkout needs before its checks can run, by its lockfile; null where nothing tells. */
export function suggestSetup(project: ProjectFiles): string | null {
  const { paths } = project;
  const scripts = readPackageScripts(project);
  const install = scripts ? installCommand(scripts, paths) : null;
  if (install !== null) return install;
  return SETUPS.find(([lockfile]) => paths.includes(lockfile))?.[1] ?? null;
}

const SETUPS: readonly (readonly [lockfile: string, command: string])[] = [
  ["uv.lock", "uv sync"],
  ["poetry.lock", "poetry install"],
  ["pdm.lock", "pdm install"],
  ["Pipfile.lock", "pipenv sync --dev"],
  ["Gemfile.lock", "bundle install"],
  ["composer.lock", "composer install"],
];

function listCandidates(project: ProjectFiles): Candidate[] {
  return [
    ...listScripts(project),
    ...listTargets(project),
    ...listDeno(project),
    ...listPython(project),
    ...listPhp(project),
    ...listRuby(project),
    ...listCompiled(project),
  ];
}

/** For each kind: what CI runs where that tells, else what somebody wrote down, else what is usual. */
function chooseAll(candidates: readonly Candidate[], ci: string): Candidate[] {
  return KINDS.flatMap((kind) => {
    const own = candidates.filter((one) => one.kind === kind);
    const runner = pick(
      own.filter(({ tool }) => tool === "runner"),
      ci,
    );
    const tools = [...new Set(own.map(({ tool }) => tool))].filter((tool) => tool !== "runner");
    const byTool = tools.flatMap(
      (tool) =>
        pick(
          own.filter((one) => one.tool === tool),
          ci,
        ) ?? [],
    );
    if (runner === undefined || byTool.length === 0) return runner ? [runner] : byTool;
    const inCi = (one: Candidate) => one.inCi.test(ci);
    const speaksForAll = byTool.length > 1 || byTool.every(({ isNamed }) => !isNamed);
    return inCi(runner) || (speaksForAll && !byTool.some(inCi)) ? [runner] : byTool;
  });
}

function pick(candidates: readonly Candidate[], ci: string): Candidate | undefined {
  return candidates.find(({ inCi }) => inCi.test(ci)) ?? candidates[0];
}

function nameAll(chosen: readonly Candidate[], ci: string): FoundCheck[] {
  return chosen.map(({ kind, tool, command, from, inCi, isSlow }) => ({
    name: chosen.filter((one) => one.kind === kind).length > 1 ? `${tool}-${kind}` : kind,
    command,
    timeoutMs: isSlow ? SLOW_TIMEOUT : TIMEOUTS[kind],
    from,
    inCi: inCi.test(ci),
  }));
}

/** By which names each kind goes, the usual one first. */
const NAMES: Readonly<Record<Kind, readonly string[]>> = {
  tests: ["test", "tests", "test:ci", "test-ci", "ci:test", "test:run", "test:once", "test:unit", "test-unit", "unit"],
  types: ["typecheck", "type-check", "check-types", "check:types", "types:check", "types", "tsc", "mypy"],
  lint: ["lint", "lint:check", "lint-check", "lint:ci", "check:lint", "eslint"],
  build: ["build", "compile"],
};

function isFit(command: string, kind: Kind): boolean {
  if (provesNothing(command) || reachesOutside(command) || staysOpen(command)) return false;
  return kind !== "lint" || !repairsFiles(command);
}

function listScripts(project: ProjectFiles): Candidate[] {
  const found = readPackageScripts(project);
  if (!found) return [];
  const { manager, scripts } = found;
  return listNames(scripts).flatMap(([kind, script]) => {
    const body = scripts.get(script) ?? "";
    const whole = expandScript(scripts, script);
    if (provesNothing(body) || !isFit(whole.slice(script.length), kind)) return [];
    const call = callScript(manager, script);
    const inCi = new RegExp(
      `\\b(?:npm|pnpm|yarn|bun)\\s+(?:run\\s+|run-script\\s+)?${escapePattern(script)}(?![\\w:-])`,
    );
    const command = needsCiVariable(whole) ? `CI=true ${call}` : call;
    return [{ kind, tool: "node", command, from: `package.json has the script ${script}`, isNamed: true, inCi }];
  });
}

/** `check` is what several call everything but the tests; by what it runs it is one of them, unless that is there already. */
function listNames(known: ReadonlyMap<string, string>): [Kind, string][] {
  const named = KINDS.flatMap((kind) =>
    NAMES[kind].filter((name) => known.has(name)).map((name): [Kind, string] => [kind, name]),
  );
  const check = known.get("check");
  const kind: Kind = /\b(?:tsc|vue-tsc|svelte-check|mypy|pyright)\b/.test(check ?? "") ? "types" : "lint";
  return check === undefined || named.some(([one]) => one === kind) ? named : [...named, [kind, "check"]];
}

function listTargets(project: ProjectFiles): Candidate[] {
  return readTaskTargets(project).flatMap((found) => {
    const { program, file, targets } = found;
    const wanted = ["check", ...Object.values(NAMES).flat()].filter((name) => targets.has(name));
    const bodies = new Map(wanted.map((name) => [name, expandTarget(found, name) ?? ""]));
    // By custom `make check` runs the tests where nothing else does.
    const isTests = targets.has("check") && !NAMES.tests.some((name) => targets.has(name));
    const others = listNames(bodies).filter(([, name]) => !isTests || name !== "check");
    const named: [Kind, string][] = isTests ? [["tests", "check"], ...others] : others;
    return named.flatMap(([kind, name]) => {
      const body = bodies.get(name) ?? "";
      if (!isFit(body, kind)) return [];
      const inCi = new RegExp(`\\b${program}\\s+(?:-\\S+\\s+)*${escapePattern(name)}(?![\\w:-])`);
      const from = `${file} has ${program === "make" ? "the target" : "the recipe"} ${name}`;
      return [{ kind, tool: "runner", command: `${program} ${name}`, from, isNamed: true, inCi }];
    });
  });
}

function listDeno({ paths, texts }: ProjectFiles): Candidate[] {
  const file = ["deno.json", "deno.jsonc"].find((name) => texts.has(name));
  if (file === undefined) return [];
  const tasks = readTexts(readJsonObject(texts.get(file)), "tasks");
  const named = listNames(tasks).flatMap(([kind, task]) => {
    if (!isFit(tasks.get(task) ?? "", kind)) return [];
    const inCi = new RegExp(`\\bdeno\\s+task\\s+${escapePattern(task)}(?![\\w:-])`);
    return [
      { kind, tool: "deno", command: `deno task ${task}`, from: `${file} has the task ${task}`, isNamed: true, inCi },
    ];
  });
  const hasTests = paths.some((path) => /[._]test\.[mc]?[jt]sx?$/.test(path));
  const usual = hasTests ? [usually("tests", "deno", "deno test", `there is a ${file} and files of tests`)] : [];
  return [...named, ...usual, usually("lint", "deno", "deno lint", `there is a ${file}`)];
}

function listPython({ paths, texts }: ProjectFiles): Candidate[] {
  const pyproject = texts.get("pyproject.toml") ?? "";
  const setup = `${texts.get("setup.cfg") ?? ""}\n${texts.get("tox.ini") ?? ""}`;
  const isPython = ["pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "pytest.ini", "tox.ini", "Pipfile"];
  if (!isPython.some((name) => paths.includes(name))) return [];
  const [, by = "python3 -m "] = PYTHON_RUNNERS.find(([lockfile]) => paths.includes(lockfile)) ?? [];
  const run = (kind: Kind, tool: string, rest: string, from: string): Candidate => ({
    ...usually(kind, "python", `${by}${tool}${rest}`, from),
    inCi: new RegExp(`\\b${tool}\\b`),
  });
  const found: Candidate[] = [];
  const isConfigured =
    paths.includes("pytest.ini") || /\[tool\.pytest/.test(pyproject) || /\[(?:tool:)?pytest\]/.test(setup);
  const hasTests = paths.some((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/.test(path));
  if (hasTests) {
    const from = isConfigured ? "pytest is configured, and there are tests" : "there are tests in Python";
    found.push(run("tests", "pytest", "", from));
    if (paths.includes("manage.py") && !isConfigured) {
      found.unshift(usually("tests", "python", "python3 manage.py test", "there is a manage.py and tests"));
    }
  }
  if (/\[tool\.ruff/.test(pyproject) || paths.includes("ruff.toml"))
    found.push(run("lint", "ruff", " check .", "ruff is configured"));
  if (/\[tool\.mypy/.test(pyproject) || /\[mypy\]/.test(setup) || paths.includes("mypy.ini")) {
    found.push(run("types", "mypy", " .", "mypy is configured"));
  }
  return found;
}

const PYTHON_RUNNERS: readonly (readonly [lockfile: string, by: string])[] = [
  ["uv.lock", "uv run "],
  ["poetry.lock", "poetry run "],
  ["pdm.lock", "pdm run "],
  ["Pipfile.lock", "pipenv run "],
];

function listPhp({ paths, texts }: ProjectFiles): Candidate[] {
  const composer = texts.get("composer.json");
  if (composer === undefined) return [];
  const scripts = readTexts(readJsonObject(composer), "scripts");
  const named = listNames(scripts).flatMap(([kind, script]) => {
    if (!isFit(scripts.get(script) ?? "", kind)) return [];
    const from = `composer.json has the script ${script}`;
    const inCi = new RegExp(`\\bcomposer\\s+(?:run(?:-script)?\\s+)?${escapePattern(script)}(?![\\w:-])`);
    return [{ kind, tool: "php", command: `composer run-script ${script}`, from, isNamed: true, inCi }];
  });
  const hasUnits = ["phpunit.xml", "phpunit.xml.dist"].some((name) => paths.includes(name));
  return hasUnits ? [...named, usually("tests", "php", "vendor/bin/phpunit", "phpunit is configured")] : named;
}

function listRuby({ paths, texts }: ProjectFiles): Candidate[] {
  const gems = texts.get("Gemfile");
  if (gems === undefined) return [];
  const found: Candidate[] = [];
  if (paths.some((path) => /(?:^|\/)spec\/.*_spec\.rb$/.test(path))) {
    found.push(usually("tests", "ruby", "bundle exec rspec", "there are specs in Ruby"));
  } else if (paths.includes("bin/rails") && paths.some((path) => path.startsWith("test/"))) {
    found.push(usually("tests", "ruby", "bin/rails test", "there is a Rails application with tests"));
  } else if (/\btest\b/i.test(texts.get("Rakefile") ?? "")) {
    found.push(usually("tests", "ruby", "bundle exec rake test", "the Rakefile has the task test"));
  }
  if (/["']rubocop/.test(gems)) found.push(usually("lint", "ruby", "bundle exec rubocop", "the Gemfile has rubocop"));
  return found;
}

/** Languages whose tool finds the tests by itself. */
function listCompiled({ paths, texts }: ProjectFiles): Candidate[] {
  const found: Candidate[] = [];
  const slow = (...words: Parameters<typeof usually>) => found.push({ ...usually(...words), isSlow: true });
  const cargo = texts.get("Cargo.toml");
  if (cargo !== undefined) {
    const whole = /^\[workspace\]/m.test(cargo) ? " --workspace" : "";
    slow("tests", "rust", `cargo test${whole}`, "there is a Cargo.toml");
    if (paths.includes("clippy.toml") || /\bcargo\s+clippy\b/.test(readCi({ paths, texts })))
      slow("lint", "rust", `cargo clippy${whole}`, "clippy is configured or run by CI");
  }
  if (texts.has("go.mod")) {
    found.push(usually("tests", "go", "go test ./...", "there is a go.mod"));
    const hasLinter = paths.some((path) => /^\.golangci\.(?:ya?ml|toml|json)$/.test(path));
    if (hasLinter) found.push(usually("lint", "go", "golangci-lint run", "golangci-lint is configured"));
    else found.push(usually("lint", "go", "go vet ./...", "there is a go.mod"));
  }
  const gradle = ["build.gradle", "build.gradle.kts"].find((name) => texts.has(name));
  if (gradle !== undefined) {
    const by = paths.includes("gradlew") ? "./gradlew" : "gradle";
    slow("tests", "jvm", `${by} test`, `there is a ${gradle}`);
  } else if (texts.has("pom.xml")) {
    slow("tests", "jvm", `${paths.includes("mvnw") ? "./mvnw" : "mvn"} -B test`, "there is a pom.xml");
  }
  if (paths.some((path) => /^[^/]*\.(?:sln|slnx|csproj|fsproj)$/.test(path)))
    slow("tests", "dotnet", "dotnet test", "there is a .NET project");
  if (texts.has("mix.exs")) found.push(usually("tests", "elixir", "mix test", "there is a mix.exs"));
  if (texts.has("Package.swift")) slow("tests", "swift", "swift test", "there is a Package.swift");
  const pubspec = texts.get("pubspec.yaml");
  if (pubspec !== undefined && paths.some((path) => path.endsWith("_test.dart"))) {
    const isFlutter = /^[ \t]+flutter:[ \t]*$|sdk:[ \t]*flutter/m.test(pubspec);
    found.push(usually("tests", "dart", isFlutter ? "flutter test" : "dart test", "there are tests in Dart"));
  }
  return found;
}

function usually(kind: Kind, tool: string, command: string, from: string): Candidate {
  const words = command.split(/\s+/).slice(0, 2).map(escapePattern).join("\\s+(?:-\\S+\\s+)*");
  return { kind, tool, command, from, isNamed: false, inCi: new RegExp(words) };
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
