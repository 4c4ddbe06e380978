/**
 * A first look at a text, before any pattern is made: what every secret we know of must contain, found by plain search.
 * Making the patterns costs a hook a third of Bun's whole start, and most of what a hook sees is a handful of plain
 * words. It lets through more than the patterns do, never less; a test holds these lists against theirs.
 */

/** Any of these may be part of a secret. The last ones stand for names in front of values, keys and phone numbers. */
export const ANYWHERE: readonly string[] =
  "signature=|.atlasv1.|/api/webhooks/|://|:_auth|_auth=|_v1_|age-secret-key-|aiza|atatt3|auth|authorization|bearer |cookie|curl|dapi|dckr_|default|docker login|eyj|figd_|gho_|ghp_|ghr_|ghs_|ghu_|github_pat_|glc_|glsa_|gocspx-|gsk_|hooks.slack.com/|hrku-|hvb.|hvr.|hvs.|k_live_|k_test_|lin_|machine|mariadb|mysql|npm_|nrak-|ntn_|ops_eyj|ovtk_|pmak-|podman login|pplx-|pscale_|pypi-|redis-cli|sb_secret_|sbp_|secret_|sg.|shp|sig=|sk-ant-|sk-or-|sntry|sshpass|tskey-|v1.0-|wget|whsec_|xai-|xapp-|xox|ya29.|dp.st.|dp.pt.|dp.ct.|dp.sa.|dp.scim.|dp.audit.|fm2_|fm1r_|fm1a_|sq0|atbb|rubygems_|pul-|vercel_blob_rw_|nfp_|nfc_|nfo_|nfu_|nfb_|lsv2_|clojars_|pass:|mongo|ldap|7z|rar |zip -|htpasswd|kennwort|passcode|secret|token|passw|passphrase|pwd|credential|key|private|+".split(
    "|",
  );

/** These are in every other sentence; they count only beside a run of LONG_RUN characters. */
export const BESIDE_LONG_RUN: readonly string[] =
  ".|-us|:aa|abia|ac|akia|api_org_|asia|gl|hf_|key-|pat|r8_|sk|sk-".split("|");
export const LONG_RUN = 16;

export const PORTS_BEGIN = "*256";

/** A colon is in all JSON; it counts where a port of a database, or any port, could follow. */
function hasPort(text: string): boolean {
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    if (PORTS_BEGIN.includes(text.charAt(at + 1)) && at + 1 < text.length) return true;
  }
  return false;
}
/** `GITHUB_PAT` is the name of a token, `file_path` is in every other call of a tool. */
function endsWithPat(lower: string): boolean {
  for (let at = lower.indexOf("_pat"); at >= 0; at = lower.indexOf("_pat", at + 1)) {
    if (!/\w/.test(lower.charAt(at + "_pat".length))) return true;
  }
  return false;
}

/** A property whose name holds none of these is no credential, whatever its value. */
const CREDENTIAL_NAMES: readonly string[] = "secret|token|pass|pwd|kennwort|cred|key|pat|auth|cookie|x-".split("|");

export function isWorthALook(text: string): boolean {
  const lower = text.toLowerCase();
  for (const word of ANYWHERE) if (lower.includes(word)) return true;
  if (hasPort(text) || endsWithPat(lower)) return true;
  if (!hasLongRun(text)) return false;
  for (const word of BESIDE_LONG_RUN) if (lower.includes(word)) return true;
  return false;
}

export function mayNameCredential(name: string): boolean {
  const lower = name.toLowerCase();
  for (const word of CREDENTIAL_NAMES) if (lower.includes(word)) return true;
  return false;
}

/** Letters, digits, `_` and `-` in a row. */
function hasLongRun(text: string): boolean {
  let run = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const letter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
    run = letter || (code >= 48 && code <= 57) || code === 95 || code === 45 ? run + 1 : 0;
    if (run >= LONG_RUN) return true;
  }
  return false;
}
