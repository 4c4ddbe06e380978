/**
 * Whom an overseer may steer that it has not started (POL-1): those that its configuration allows (`policy.allowAgents`), and
 * those that a person names on the command line. Everybody else is only shown. The names are of another repository, so one
 * may be told from its namesake by the directory in which it reports. Pure.
 */

/** As allowlists write it: `ada`, `one/ada`, `one/*`, `*`. */
export function isAllowedElsewhere(allowed: readonly string[], container: string, agent: string): boolean {
  const names = new Set(["*", agent, `${container}/${agent}`, `${container}/*`]);
  return allowed.some((one) => names.has(one));
}
