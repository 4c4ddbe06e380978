/**
 * Whether a command that a repository has may be run unattended as a check: it changes nothing outside of its directory, it
 * ends by itself, and it can fail. Judged by its text alone, so it is told from its words; in doubt it may not, because a
 * check that is not proposed costs a person one line, and a release costs more than that.
 */

/** Only how it is built, not what is done with it. */
const BUILDS_RELEASE = /--release\b|(?:-c|--configuration|BUILD_TYPE=|--config)\s*Release\b|\bassembleRelease\b/gi;

const REACHES_OUT: readonly RegExp[] = [
  /(?:\b|_)(?:pre|post)?(?:deploy|publish|release|promote|rollout|rollback|upload|provision|migrate|seed)(?:s|ed|ing|ment|r)?(?:\b|_)/i,
  /\b(?:semantic-release|standard-version|release-it|changeset|gh-pages|twine|kubectl|helm|terraform|pulumi|ansible(?:-playbook)?)\b/i,
  /\b(?:serverless|sls|vercel|netlify|wrangler|flyctl|heroku|gcloud|firebase|surge|aws|az)\s/i,
  /\b(?:rsync|scp|ssh|sftp|sudo|doas|crontab|systemctl|shutdown|reboot)\b/i,
  /\bgit\s+(?:push|tag|commit|reset|clean|checkout|stash)\b|\bgh\s+\w|\bnpm\s+version\b/i,
  /\bdocker\s+(?:push|login|system|rm)\b|\bdocker[- ]compose\s+(?:down|push)\b|\bdb:(?:push|reset|drop|seed|migrate)\b/i,
  /\brm\s+-\w*r\w*\s+(?:\/|~|\$|\.\.)|\b(?:curl|wget)\b[^|]{0,300}\|\s*(?:ba|z|da)?sh\b/i,
];

/** True where it would do something to the world beside its directory, such as publishing. */
export function reachesOutside(command: string): boolean {
  const said = command.replace(BUILDS_RELEASE, " ");
  return REACHES_OUT.some((pattern) => pattern.test(said));
}

/** Said not to. */
const STOPS_WATCHING = /--(?:watch|watchAll|ui)[= ]false\b|--no-watch\b|--single-run\b|--run\b/gi;

const STAYS: readonly RegExp[] = [
  /(?:^|\s)--(?:watch(?:-?all)?|ui|serve|open|inspect-brk|debug-brk)\b/i,
  /\b(?:tsc|mocha|rollup|webpack|ava|jest|swc|babel|esbuild)\b[^&|;]{0,300}\s-w\b/,
  /\b(?:nodemon|watchexec|watchman-make|chokidar|ptw|pytest-watch|live-server|http-server|browser-sync|entr)\b/,
  /\bcargo\s+watch\b|\bvitest\s+(?:watch|dev)\b|\bng\s+(?:test|serve)\b|\bcypress\s+open\b|\btail\s+-[fF]\b/,
  /\b(?:next|astro|nuxt|remix|gatsby|storybook)\s+(?:dev|develop|start)\b|\bwebpack\s+serve\b|\bdocker[- ]compose\s+up\b/,
  /(?:^|[&|;]\s*)vite(?:[ \t]+(?:dev|serve|preview))?[ \t]*(?:$|[&|;])/m,
  /\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:watch|dev|serve|start)\b/,
];

/** True where it waits for changes, or serves, and so never ends. */
export function staysOpen(command: string): boolean {
  const said = command.replace(STOPS_WATCHING, " ");
  // What karma is told to do once is not in its name.
  if (/\bkarma\s+start\b/.test(said)) return !/--single-run\b/.test(command);
  if (/\bng\s+test\b/.test(said) && said !== command) return false;
  return STAYS.some((pattern) => pattern.test(said));
}

/** Runners that wait for changes unless they see that nobody is there: the variable `CI` tells them. */
export function needsCiVariable(command: string): boolean {
  const stays = /\breact-scripts(?:-ts)?\s+test\b|\bcraco\s+test\b/.test(command) && !/--watchAll=false/i.test(command);
  return stays || /(?:^|[&|;]\s*)(?:npx\s+)?vitest[ \t]*(?:$|[&|;]|--(?!run\b))/m.test(command);
}

/** True where it passes, or fails, whatever the files hold: npm's placeholder, an echo, nothing. */
export function provesNothing(command: string): boolean {
  if (/no tests? (?:specified|yet|configured|defined)/i.test(command)) return true;
  const parts = command.split(/&&|\|\||;|\n/).map((part) => part.trim().replace(/^@-?/, ""));
  return parts.every((part) => part === "" || /^(?:echo|printf|true|:|exit(?:\s+\d+)?|sleep)(?:\s|$)/.test(part));
}

/** True where it changes files instead of judging them. */
export function repairsFiles(command: string): boolean {
  return /(?:^|\s)(?:--fix|--write|--apply|--in-place|--autofix)\b(?!=false|-dry)/.test(command);
}
