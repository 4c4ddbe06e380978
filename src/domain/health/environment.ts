/**
 * What of the person's environment agents do not get. They get a short list of variables and `agents.passEnv`; what
 * leads a CLI or the network elsewhere (another address, a proxy, certificates, a cloud's login) and is not on it works
 * for the person and not for the agents, which is hard to see from either side. Pure.
 */
import type { Finding } from "./checkup.ts";

/** How the network and a cloud's login are told to programs, whichever CLI asks. */
const OF_THE_NETWORK =
  /^(?:(?:https?|all|no)_proxy|node_extra_ca_certs|node_tls_\w+|ssl_cert_(?:file|dir)|requests_ca_bundle|curl_ca_bundle|aws_\w+|google_(?:application_credentials|cloud_\w+)|cloudsdk_\w+|cloud_ml_region|vertex_\w+|azure_\w+|xdg_config_home)$/i;

export interface EnvironmentFacts {
  /** The names that are set here. */
  readonly set: readonly string[];
  /** Those that agents get. */
  readonly passed: readonly string[];
  /** Whether a name means something to one of the configured CLIs. */
  isOfCli(name: string): boolean;
}

/** What is set here and does not reach the agents: what a CLI itself reads, and what leads the network elsewhere. */
export function listUnpassed({ set, passed, isOfCli }: EnvironmentFacts) {
  const known = new Set(passed);
  const kept = set.filter((name) => !known.has(name)).toSorted();
  return {
    ofCli: kept.filter((name) => isOfCli(name)),
    ofNetwork: kept.filter((name) => !isOfCli(name) && OF_THE_NETWORK.test(name)),
  };
}

export function judgeEnvironment(facts: EnvironmentFacts): Finding {
  const { ofCli, ofNetwork } = listUnpassed(facts);
  const kept = [...ofCli, ...ofNetwork].toSorted();
  const list = `agents get ${[...facts.passed].toSorted().join(", ")}`;
  const detail =
    kept.length === 0
      ? `nothing is set here for a CLI or the network that agents do not get; ${list}`
      : `set here and not passed to agents: ${kept.join(", ")} (list in agents.passEnv what they need); ${list}`;
  return { check: "environment", ok: true, detail };
}
