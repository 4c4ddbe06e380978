/**
 * Planted secrets and their look-alikes, shared by every test that asks whether something we keep could leak: the
 * database, logs, exports, the spool. None of them opens anything. Each is glued together from pieces so that secret
 * scanners reading this repository stay quiet. What must disappear is `secret`; the text around it shows where such
 * a thing turns up in an agent's work.
 */

export interface PlantedSecret {
  readonly kind: string;
  readonly text: string;
  readonly secret: string;
}

const hex = (length: number): string =>
  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".repeat(4).slice(0, length);
const mixed = (length: number): string => "aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xY".repeat(8).slice(0, length);
const upper = (length: number): string => "Q7W2E9R4T6Y1U8I3O5PA".repeat(5).slice(0, length);

const planted = (kind: string, secret: string, around: (secret: string) => string = (it) => it): PlantedSecret => ({
  kind,
  secret,
  text: around(secret),
});

const KEY_BODY = `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n${mixed(64)}\n${mixed(30)}==`;
const pem = (label: string, body: string, newline = "\n"): string =>
  [`-----${"BEGIN"} ${label}-----`, ...body.split("\n"), `-----${"END"} ${label}-----`].join(newline);
const jwt = `eyJhbGciOiJIUzI1NiJ9.${"eyJzdWIiOiIxMjM0NTY3ODkwIn0"}.${mixed(43)}`;
const PASSWORD = `Tr0ub4dor-${"x9Kq"}`;

export const PLANTED_SECRETS: readonly PlantedSecret[] = [
  // Vendors
  planted("anthropic-api-key", `sk-${"ant-"}api03-${mixed(90)}`, (it) => `the key is ${it}, do not share`),
  planted("openai-api-key", `sk-${mixed(48)}`, (it) => `client = OpenAI("${it}")`),
  planted("openai-api-key", `sk-${"proj-"}${mixed(60)}`),
  planted("openrouter-api-key", `sk-${"or-"}v1-${hex(64)}`),
  planted("google-api-key", `AI${"za"}Sy${mixed(33)}`, (it) => `https://maps.example/js?key=${it}`),
  planted("google-oauth-token", `ya${"29."}${mixed(60)}`),
  planted("aws-access-key", `AK${"IA"}${upper(16)}`, (it) => `found ${it} in the log`),
  planted("aws-access-key", `AS${"IA"}${upper(16)}`),
  planted("github-token", `gh${"p_"}${mixed(36)}`, (it) => `git clone https://${it}@github.com/o/r`),
  planted("github-token", `gh${"o_"}${mixed(36)}`),
  planted("github-token", `gh${"s_"}${mixed(36)}`),
  planted("github-token", `github_${"pat_"}${mixed(22)}_${mixed(59)}`),
  planted("gitlab-token", `gl${"pat-"}${mixed(20)}`),
  planted("slack-token", `xo${"xb-"}123456789012-1234567890123-${mixed(24)}`),
  planted("slack-webhook", `T0${"0000000"}/B00000000/${mixed(24)}`, (it) => `https://hooks.slack.com/services/${it}`),
  planted("stripe-key", `sk_${"live_"}${mixed(24)}`),
  planted("stripe-key", `rk_${"live_"}${mixed(24)}`),
  planted("twilio-auth", hex(32), (it) => `AC${hex(40).slice(8)}:${it}`),
  planted("twilio-api-key", `S${"K"}${hex(32)}`),
  planted("sendgrid-api-key", `SG${"."}${mixed(22)}.${mixed(43)}`),
  planted("npm-token", `np${"m_"}${mixed(36)}`),
  planted("pypi-token", `py${"pi-"}AgEIcHlwaS5vcmc${mixed(70)}`),
  planted("huggingface-token", `h${"f_"}${mixed(34)}`),
  planted("digitalocean-token", `dop_${"v1_"}${hex(64)}`),
  planted("discord-bot-token", `MTAx${mixed(20)}.${"GhIjKl"}.${mixed(38)}`),
  planted("discord-webhook", mixed(68), (it) => `https://discord.com/api/webhooks/123456789012345678/${it}`),
  planted("telegram-bot-token", `123456789:${"AA"}${mixed(33)}`, (it) => `https://api.telegram.org/bot${it}/getMe`),
  planted("linear-api-key", `lin_${"api_"}${mixed(40)}`),
  planted("notion-token", `nt${"n_"}${mixed(46)}`),
  planted("databricks-token", `da${"pi"}${hex(32)}`),
  planted("cloudflare-token", `v1${".0-"}${hex(24)}-${hex(146)}`),
  planted("heroku-api-key", `HR${"KU-"}${mixed(36)}`),
  planted("mailgun-api-key", `ke${"y-"}${hex(32)}`),
  planted("age-secret-key", `AGE-SECRET-${"KEY-1"}${upper(58)}`),
  planted("vault-token", `hv${"s."}${mixed(90)}`),
  planted("docker-token", `dckr_${"pat_"}${mixed(27)}`),
  planted("grafana-token", `gl${"sa_"}${mixed(32)}_${hex(8)}`),
  planted("jwt", jwt, (it) => `session ${it}`),
  // Cloud storage
  planted(
    "credential",
    `${mixed(86)}==`,
    (it) => `DefaultEndpointsProtocol=https;AccountName=box;AccountKey=${it};EndpointSuffix=core`,
  ),
  planted("signed-url", `${mixed(40)}%3D`, (it) => `https://box.blob.example/c?sv=2022-11-02&sp=r&sig=${it}`),
  planted("credential", `wJalrXUtnFEMI/${"K7MDENG"}/bPxRfiCYz${mixed(8)}`, (it) => `aws_secret_access_key = ${it}`),
  planted("credential", `wJalrXUtnFEMI/${"K7MDENG"}/bPxRfiCYz${mixed(8)}`, (it) => `{"SecretAccessKey": "${it}"}`),
  // Headers
  planted("bearer-token", mixed(40), (it) => `curl -H 'Authorization: Bearer ${it}' https://api.example`),
  planted("bearer-token", mixed(40), (it) => `{"headers":{"Authorization":"Bearer ${it}"}}`),
  planted("basic-auth", `dXNlcjpo${"dW50ZXIy"}`, (it) => `Authorization: Basic ${it}`),
  planted("credential", mixed(24), (it) => `curl -H "X-Api-Key: ${it}" https://api.example`),
  planted("cookie", mixed(32), (it) => `Cookie: theme=dark; session=${it}; lang=en`),
  planted("cookie", mixed(32), (it) => `Set-Cookie: sid=${it}; HttpOnly; Secure`),
  // Private keys
  planted("private-key", KEY_BODY, (it) => pem("RSA PRIVATE KEY", it)),
  planted("private-key", KEY_BODY, (it) => pem("EC PRIVATE KEY", it)),
  planted("private-key", KEY_BODY, (it) => pem("OPENSSH PRIVATE KEY", it)),
  planted("private-key", KEY_BODY, (it) => pem("PGP PRIVATE KEY BLOCK", `\n${it}\n=aB3d`)),
  planted("private-key", mixed(64), (it) => `{"private_key": "${pem("PRIVATE KEY", `${it}\n${it}`, "\\n")}\\n"}`),
  planted("private-key", mixed(64), (it) => `-----${"BEGIN"} RSA PRIVATE KEY-----\n${it}\n${it}`),
  // Credential files
  planted("password", PASSWORD, (it) => `machine git.example login bot password ${it}`),
  planted("password", PASSWORD, (it) => `machine git.example\n  login bot\n  password ${it}`),
  planted("credential", mixed(36), (it) => `//registry.npmjs.org/:_authToken=${it}`),
  planted("pgpass-password", PASSWORD, (it) => `localhost:5432:app:bot:${it}`),
  planted("docker-auth", `dXNlcjpo${"dW50ZXIy"}`, (it) => `{"auths":{"ghcr.io":{"auth":"${it}"}}}`),
  planted("credential", mixed(48), (it) => `users:\n- name: admin\n  user:\n    token: ${it}\n`),
  // Connection strings
  planted("password", PASSWORD, (it) => `postgres://bot:${it}@db.example:5432/app`),
  planted("password", PASSWORD, (it) => `mysql://root:${it}@127.0.0.1/app`),
  planted("password", `p@ss/${"w0rd"}`, (it) => `mongodb+srv://bot:${it}@cluster.example/app`),
  planted("password", PASSWORD, (it) => `redis://:${it}@cache:6379/0`),
  planted("password", PASSWORD, (it) => `amqp://bot:${it}@queue:5672/`),
  planted("password", PASSWORD, (it) => `git remote add o https://bot:${it}@git.example/o/r.git`),
  planted("credential", PASSWORD, (it) => `Server=db;User Id=sa;Password=${it};Encrypt=true`),
  planted("credential", PASSWORD, (it) => `jdbc:postgresql://db/app?user=bot&password=${it}&ssl=true`),
  // Names in front of values
  planted("env-value", `sk-${mixed(48)}`, (it) => `OPENAI_API_KEY=${it}`),
  planted("env-value", "swordfish", (it) => `export DB_PASSWORD=${it}`),
  planted("env-value", "correct horse battery", (it) => `DB_PASSWORD="${it}"`),
  planted("env-value", "01234567-89ab-cdef-0123-456789abcdef", (it) => `HEROKU_API_KEY=${it}`),
  planted("env-value", mixed(20), (it) => `docker run -e SESSION_SECRET=${it} app`),
  planted("credential", PASSWORD, (it) => `db:\n  password: ${it}\n`),
  planted("credential", PASSWORD, (it) => `const password = "${it}";`),
  planted("credential", mixed(32), (it) => `client_secret: '${it}'`),
  planted("credential", PASSWORD, (it) => `deploy --password ${it} --verbose`),
  planted("credential", mixed(24), (it) => `deploy --token=${it}`),
  planted("password", PASSWORD, (it) => `mysql -u root -p'${it}' app`),
  planted("password", PASSWORD, (it) => `curl -u bot:${it} https://api.example`),
  planted("credential", mixed(24), (it) => `https://api.example/v1?access_token=${it}&page=2`),
  // People
  planted("phone-number", "151 23456789", (it) => `call +49 ${it}`),
  planted("phone-number", "(555) 010-1234", (it) => `call +1 ${it}`),
  planted("phone-number", "4915123456789", (it) => `tel:+${it}`),
];

/** Every one of these must come through byte for byte. */
export const LOOK_ALIKES: readonly string[] = [
  // Ids, hashes, numbers
  "da39a3ee5e6b4b0d3255bfef95601890afd80709",
  "commit e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "123e4567-e89b-12d3-a456-426614174000",
  '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
  "goal_7ZK3M0QX2A",
  "A_01JD3Y8K7M9QWERTYZXCVBNMAS",
  "m_7ZK3M0QX2A9PLDFG",
  "task-7f3a9c2b1d4e5f60718293a4b5c6d7e8",
  "1731715200000",
  "took 1731715200000 ms, 98765432109876543210 bytes",
  "ISBN 978-3-16-148410-0",
  "2026-01-15T09:30:00.000Z",
  "2026-01-15T09:30:00+02:00",
  "192.168.178.20:8080",
  "[::1]:5432",
  "1.2.3-beta.4+20130313144700",
  "+1.2.3.4",
  "3 files changed, +1200 -300",
  "+1731715200000",
  "#ff8800",
  "etag-5d41402abc4b2a76b9719d911017c592",
  "cache-key-5d41402abc4b2a76b9719d911017c592",
  // Paths and addresses
  "/home/dev/project/src/auth/token-store.ts:42:7",
  "src/secrets/password-reset.test.ts",
  "C:\\Users\\dev\\token\\notes.txt",
  "git@github.com:owner/repo.git",
  "deploy@build.example:/srv/app",
  "ssh://git@host.example:22/owner/repo",
  "postgres://localhost/db",
  "postgres://localhost:5432/db?sslmode=disable",
  "https://example.com:8443/path@v1.2.3?x=1",
  "http://[::1]:8080/a@b",
  "https://cdn.example/app.5d41402abc4b2a76b9719d911017c592.js",
  "https://github.com/o/r/commit/da39a3ee5e6b4b0d3255bfef95601890afd80709",
  "src/a.ts:5432:error:name:detail",
  // Code
  "const token = getToken();",
  'if (password === "") return;',
  "const token = tokens[index];",
  "function login(user: string, password: string): Promise<Token> {}",
  "password: z.string().min(8),",
  "this.token = options.token;",
  "token: Token | undefined;",
  "connect(host, password=password, token=access_token)",
  "process.env.OPENAI_API_KEY",
  "const key = process.env.OPENAI_API_KEY;",
  "apiKey: process.env.ANTHROPIC_API_KEY,",
  'API_KEY = os.environ["API_KEY"]',
  `\${{ secrets.GITHUB_TOKEN }}`,
  `GITHUB_TOKEN: \${{ secrets.GITHUB_TOKEN }}`,
  "TOKEN=$GITHUB_TOKEN",
  `PASSWORD="\${DB_PASSWORD}"`,
  "OPENAI_API_KEY=",
  "needs OPENAI_API_KEY",
  "secrets: inherit",
  'credentials: "same-origin"',
  'token.kind === "identifier"',
  '"type": "token"',
  '{"password": {"type": "string"}}',
  "PASSWORD_FILE=/run/secrets/db",
  "secretName: database-login",
  'startsWith("-----BEGIN RSA PRIVATE KEY-----")',
  // Counting tokens
  "tokens: 1234",
  "max_tokens=4096",
  '"output_tokens": 42',
  "token_count",
  "token_count: 123456",
  "--token-budget 500",
  "budgetTokens: 200000",
  "used 15000 tokens of 200000",
  // Words
  "sk-learn",
  "sketch",
  "ask-for-permission-before-deleting-anything",
  "class='sk-folding-cube sk-cube-parent-animation'",
  "npm_config_registry",
  "hf_transfer",
  "the bearer of bad news",
  "the password is wrong",
  "the --password flag",
  "usage: login --token <token> --password PASSWORD",
  "Password: required",
  "cookie: string",
  "Accept cookies: yes",
  "**Secrets**: see [docs](docs/secrets.md#tokens)",
  "- `url-token`: `url('./foo.png')`",
  // Public by nature
  "Authorization: Bearer <token>",
  "Authorization: Bearer $TOKEN",
  "OPENAI_API_KEY=<your key>",
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7vPmN0aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xYzA dev@laptop",
  "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END PUBLIC KEY-----",
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
];
