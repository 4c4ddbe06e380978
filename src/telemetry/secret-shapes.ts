/**
 * Shapes that only a secret has: the prefixes of vendors' keys and tokens. One line per kind; the narrower first.
 */
import { lazily, marker } from "./secret-marker.ts";

interface Vendor {
  readonly kind: string;
  /** At least one of these is in every match; a plain search for them is far cheaper than the pattern. */
  readonly markers: readonly string[];
  readonly pattern: () => RegExp;
  /** A stricter pattern for the first scan, where the marker alone is in every other sentence ("task-", "."). */
  readonly hint?: string;
  /** The prefix is short enough to occur inside ordinary words: demand that a word starts here. */
  readonly startsWord: boolean;
}

function shape(
  kind: string,
  markers: string | readonly string[],
  source: string,
  { startsWord = false, hint }: { startsWord?: boolean; hint?: string } = {},
): Vendor {
  const list = typeof markers === "string" ? [markers] : markers;
  return { kind, markers: list, pattern: lazily(() => new RegExp(source, "g")), startsWord, hint };
}

const word = { startsWord: true };

/** Order matters where one prefix contains another: the narrower kind first. */
export const VENDORS: readonly Vendor[] = [
  shape("anthropic-api-key", "sk-ant-", "sk-ant-[\\w-]{16,}"),
  shape("overseer-token", "ovtk_", "ovtk_[0-9a-f]{24,}"),
  shape("openrouter-api-key", "sk-or-", "sk-or-(?:v\\d-)?[\\w-]{20,}"),
  shape(
    "openai-api-key",
    "sk-",
    "sk-(?:(?:proj|svcacct|admin|None)-[\\w-]{20,}|(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{20,})",
    { startsWord: true, hint: "sk-[\\w-]{20}" },
  ),
  shape("google-api-key", "AIza", "AIza[\\w-]{30,}"),
  shape("google-oauth-token", ["ya29.", "GOCSPX-"], "(?:ya29\\.|GOCSPX-)[\\w-]{20,}"),
  shape(
    "aws-access-key",
    ["AKIA", "ASIA", "ABIA"],
    "(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}(?![A-Za-z0-9])(?:[,:][A-Za-z0-9/+]{40})?",
    { startsWord: true, hint: "(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}" },
  ),
  shape("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "gh[pousr]_[A-Za-z0-9]{30,}"),
  shape("github-token", "github_pat_", "github_pat_\\w{30,}"),
  shape("gitlab-token", "gl", "gl(?:pat|dt|rt|ft|cbt|ptt|soat|imt|agent|oas)-[\\w-]{18,}(?:\\.[\\w-]{2,40}){0,2}", {
    startsWord: true,
    hint: "gl[a-z]{2,5}-[\\w-]{18}",
  }),
  shape("slack-token", ["xox", "xapp-"], "(?:xox[abceoprs](?:\\.xox[bp])?|xapp)-[\\w-]{10,}"),
  shape("slack-webhook", "hooks.slack.com/", "hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/-]{12,}"),
  shape("stripe-key", ["k_live_", "k_test_"], "[srp]k_(?:live|test)_[A-Za-z0-9]{10,}", word),
  shape("webhook-secret", "whsec_", "whsec_[A-Za-z0-9+/=]{20,}"),
  shape("twilio-auth", "AC", "AC[0-9a-f]{32}:[0-9a-f]{32}(?![A-Za-z0-9])", {
    startsWord: true,
    hint: "AC[0-9a-f]{32}",
  }),
  shape("twilio-api-key", "SK", "SK[0-9a-f]{32}(?![A-Za-z0-9])", { startsWord: true, hint: "SK[0-9a-f]{32}" }),
  shape("sendgrid-api-key", "SG.", "SG\\.[\\w-]{16,}\\.[\\w-]{16,}", word),
  shape("npm-token", "npm_", "npm_[A-Za-z0-9]{30,}", word),
  shape("pypi-token", "pypi-", "pypi-[\\w-]{50,}", word),
  shape("huggingface-token", ["hf_", "api_org_"], "(?:hf|api_org)_[A-Za-z0-9]{30,}", {
    startsWord: true,
    hint: "(?:hf|api_org)_[A-Za-z0-9]{30}",
  }),
  shape("digitalocean-token", "_v1_", "do[opr]_v1_[a-f0-9]{40,}"),
  shape("discord-webhook", "/api/webhooks/", "discord(?:app)?\\.com/api/webhooks/\\d{5,25}/[\\w-]{20,}"),
  shape("discord-bot-token", ".", "[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,45}", {
    startsWord: true,
    hint: "[MNO][\\w-]{23,27}\\.[\\w-]{6}\\.",
  }),
  shape("telegram-bot-token", ":AA", "(?<!\\d)\\d{8,10}:AA[\\w-]{32,}", { hint: "\\d:AA[\\w-]{32}" }),
  shape("linear-api-key", "lin_", "lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
  shape("notion-token", ["secret_", "ntn_"], "(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})", word),
  shape("databricks-token", "dapi", "dapi[a-f0-9]{32}(?:-\\d)?(?![A-Za-z0-9])", word),
  shape("cloudflare-token", "v1.0-", "v1\\.0-[a-f0-9]{24}-[a-f0-9]{100,}", word),
  shape("heroku-api-key", "HRKU-", "HRKU-[\\w-]{30,}"),
  shape("mailgun-api-key", "key-", "key-[a-f0-9]{32}(?![A-Za-z0-9])", { startsWord: true, hint: "key-[a-f0-9]{32}" }),
  shape("age-secret-key", "AGE-SECRET-KEY-", "AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
  shape("vault-token", ["hvs.", "hvb.", "hvr."], "hv[sbr]\\.[\\w-]{20,}", word),
  shape("shopify-token", "shp", "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", { startsWord: true, hint: "shp[a-z]{2}_" }),
  shape("groq-api-key", "gsk_", "gsk_[A-Za-z0-9]{30,}", word),
  shape("xai-api-key", "xai-", "xai-[A-Za-z0-9]{40,}", word),
  shape("perplexity-api-key", "pplx-", "pplx-[A-Za-z0-9]{30,}", word),
  shape("replicate-token", "r8_", "r8_[A-Za-z0-9]{30,}", { startsWord: true, hint: "r8_[A-Za-z0-9]{30}" }),
  shape("postman-api-key", "PMAK-", "PMAK-[a-f0-9]{20,}-[a-f0-9]{20,}"),
  shape("grafana-token", ["glsa_", "glc_"], "(?:glsa|glc)_[\\w+/=]{30,}", word),
  shape("sentry-token", "sntry", "sntry[su]_[\\w+/=]{40,}", word),
  shape("newrelic-key", "NRAK-", "NRAK-[A-Z0-9]{20,}"),
  shape("docker-token", "dckr_", "dckr_(?:pat|oat)_[\\w-]{20,}"),
  shape("atlassian-token", "ATATT3", "ATATT3[\\w=-]{50,}"),
  shape("terraform-token", ".atlasv1.", "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{40,}", word),
  shape("planetscale-token", "pscale_", "pscale_(?:tkn|pw|oauth)_[\\w.-]{30,}"),
  shape("supabase-token", ["sbp_", "sb_secret_"], "(?:sbp_[a-f0-9]{40}|sb_secret_[\\w-]{20,})", word),
  shape("tailscale-key", "tskey-", "tskey-[a-z]{2,10}-[\\w-]{16,}"),
  shape("figma-token", "figd_", "figd_[\\w-]{30,}"),
  shape("airtable-token", "pat", "pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}", {
    startsWord: true,
    hint: "pat[A-Za-z0-9]{14}\\.",
  }),
  shape("1password-token", "ops_eyJ", "ops_eyJ[\\w+/=-]{50,}"),
  shape(
    "doppler-token",
    ["dp.st.", "dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
    "dp\\.(?:st|pt|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,}",
    word,
  ),
  shape("fly-token", ["fm2_", "fm1r_", "fm1a_"], "fm(?:2|1[ra])_[\\w+/=-]{40,}", word),
  shape("mailchimp-api-key", "-us", "[0-9a-f]{32}-us\\d{1,2}(?![\\w-])", {
    startsWord: true,
    hint: "[0-9a-f]{32}-us\\d",
  }),
  shape("square-token", "sq0", "sq0(?:atp|csp)-[\\w-]{20,}", { startsWord: true, hint: "sq0(?:atp|csp)-" }),
  shape("bitbucket-token", "ATBB", "ATBB[A-Za-z0-9]{24,}", word),
  shape("rubygems-token", "rubygems_", "rubygems_[a-f0-9]{48}", word),
  shape("pulumi-token", "pul-", "pul-[a-f0-9]{40}(?![A-Za-z0-9])", word),
  shape("vercel-token", "vercel_blob_rw_", "vercel_blob_rw_\\w{20,}"),
  shape("netlify-token", ["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], "nf[pcoub]_[A-Za-z0-9]{36,}", word),
  shape("langsmith-api-key", "lsv2_", "lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{8,}", word),
  shape("clojars-token", "CLOJARS_", "CLOJARS_[A-Za-z0-9]{60}", word),
  shape("jwt", "eyJ", "(?:(?<![\\w-])|(?<=\\\\[nrt]))eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}(?:\\.[\\w-]{8,}){1,3}"),
  shape(
    "signed-url",
    ["sig=", "signature="],
    "(?<=(?:[?&;](?:sig|Signature)|X-Amz-Signature|X-Goog-Signature)=)(?=[A-Za-z%+/=_-]{0,60}\\d)(?=[\\d%+/=_-]{0,60}[A-Za-z])[\\w%+/=~-]{10,}",
  ),
];

export function redactShape(text: string, vendor: Vendor): string {
  return text.replace(vendor.pattern(), (match: string, ...rest: unknown[]) => {
    const offset = rest.find((part) => typeof part === "number") as number;
    if (vendor.startsWord && !startsWord(text, offset)) return match;
    return marker(vendor.kind);
  });
}

/** True when no word runs into `index`; the tail of `\n`, `%22`, `\u0022` or a colour code does not count as a word. */
export function startsWord(text: string, index: number): boolean {
  if (index === 0 || !/[\w-]/.test(text.charAt(index - 1))) return true;
  return /(?:\\[nrtbf]|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\[[\d;]{0,9}m)$/i.test(text.slice(Math.max(0, index - 12), index));
}
