"""The rules of the secret masker, as data: tokens by their prefix, words that announce a secret, and commands.

Written for notes. No rule set on PyPI fitted: those that are kept up bring a Go runtime, or some thirty packages and a
model of their own.
"""

from __future__ import annotations

TOKENS: tuple[tuple[str, str], ...] = (
    ("AWS Access Key", r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("AWS Bedrock Key", r"ABSK[A-Za-z0-9+/]{100,}=*"),
    ("GitHub Token", r"gh[opsru]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}"),
    ("GitLab Token", r"gl(?:pat|dt|rt|rtr|ptt|cbt|ft|imt|agent|soat|oas|ffct)-[\w.-]{20,}"),
    ("Slack Token", r"xox[a-z](?:\.[a-z]+)?-[\w-]{10,}|xapp-\d-[\w-]{10,}"),
    ("Slack Webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{20,}"),
    ("Discord Webhook", r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}"),
    ("Discord Token", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}"),
    ("Teams Webhook", r"[\w-]+\.webhook\.office\.com/webhookb2/[\w@/-]{40,}"),
    ("Stripe Key", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{24,}=*"),
    ("Anthropic Token", r"sk-ant-[\w-]{20,}"),
    ("OpenAI Token", r"sk-(?:proj-|svcacct-|admin-|or-v1-|lf-)?(?=[\w-]*\d)[\w-]{32,}"),
    ("Google API Key", r"AIza[\w-]{35}"),
    ("Google OAuth", r"ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|1//0[\w-]{35,}"),
    ("Hugging Face Token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    ("npm Token", r"npm_[A-Za-z0-9]{36,}"),
    ("PyPI Token", r"pypi-[\w-]{50,}"),
    ("RubyGems Key", r"rubygems_[a-f0-9]{48}"),
    ("NuGet Key", r"oy2[a-z0-9]{43}"),
    ("Clojars Token", r"CLOJARS_[a-z0-9]{60}"),
    ("Docker Token", r"dckr_(?:pat|oat)_[\w-]{20,}|SWM(?:TKN|KEY)-1-[\w-]{20,}"),
    ("DigitalOcean Token", r"do[oprt]_v1_[a-f0-9]{40,}"),
    ("Shopify Token", r"shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32}"),
    ("Databricks Token", r"dapi[a-f0-9]{32}(?:-\d)?"),
    ("Grafana Token", r"glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,}=*"),
    ("Vault Token", r"hv[bsr]\.[\w-]{20,}"),
    ("Terraform Token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}"),
    ("Notion Token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("Groq Key", r"gsk_[A-Za-z0-9]{40,}"),
    ("xAI Key", r"xai-[A-Za-z0-9]{60,}"),
    ("Perplexity Key", r"pplx-[A-Za-z0-9]{40,}"),
    ("Replicate Token", r"r8_[A-Za-z0-9]{30,}"),
    ("Pinecone Key", r"pcsk_[A-Za-z0-9_]{40,}"),
    ("LangSmith Key", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("Tavily Key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{30,}"),
    ("Tailscale Key", r"tskey-[a-z]+-[A-Za-z0-9-]{10,}"),
    ("Linear Key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("Cloudflare Token", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}|cf(?:ut|at|k)_[A-Za-z0-9]{40,}"),
    ("Heroku Key", r"HRKU-[\w-]{30,}"),
    ("Fly Token", r"fm[12][ar]?_[A-Za-z0-9+/=_-]{60,}|fo1_[\w-]{40,}"),
    ("Vercel Token", r"vc[aikpr]_[A-Za-z0-9]{24,}"),
    ("Netlify Token", r"nf[pcu]_[A-Za-z0-9]{36,}"),
    ("Supabase Key", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}"),
    ("Neon Key", r"napi_[a-z0-9]{40,}"),
    ("PlanetScale Token", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    ("Doppler Token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}"),
    ("Pulumi Token", r"pul-[a-f0-9]{40}"),
    ("Dynatrace Token", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("New Relic Key", r"NR(?:AK|AA|AL|II|JS|RA|SP)-[A-Za-z0-9-]{19,}"),
    ("Sentry Token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("PostHog Key", r"ph[xs]_[A-Za-z0-9]{30,}"),
    ("SonarQube Token", r"sq[apu]_[a-f0-9]{40}"),
    ("Buildkite Token", r"bk(?:ua|aj|pt)_[a-f0-9]{40}"),
    ("CircleCI Token", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}"),
    ("Postman Key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("Figma Token", r"fig[dour][hr]?_[\w-]{36,}"),
    ("Airtable Token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("Atlassian Token", r"AT[AC]TT3[\w=-]{50,}|ATBB[A-Za-z0-9]{24,}"),
    ("Asana Token", r"[12]/\d{10,}(?:/\d{10,})?:[a-f0-9]{32}"),
    ("SendGrid Key", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("Brevo Key", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("Resend Key", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    ("Mailgun Key", r"key-[a-f0-9]{32}(?![a-f0-9])"),
    ("Mailchimp Key", r"[a-f0-9]{32}-us\d{1,2}(?!\d)"),
    ("Twilio Key", r"(?:AC|SK)[a-f0-9]{32}(?![a-f0-9])"),
    ("Telegram Token", r"\d{8,10}:A[\w-]{34}(?![\w-])"),
    ("Square Token", r"sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{58,}"),
    ("Facebook Token", r"EAA[A-Za-z0-9]{60,}"),
    ("Dropbox Token", r"sl\.(?:u\.)?[\w-]{80,}"),
    ("Contentful Token", r"CFPAT-[\w-]{40,}"),
    ("Typeform Token", r"tfp_[\w.-]{40,}"),
    ("Shippo Token", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    ("EasyPost Key", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("Flutterwave Key", r"FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}"),
    ("Adafruit Key", r"aio_[A-Za-z0-9]{28}"),
    ("Alibaba Key", r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    ("Azure Secret", r"[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    ("Artifactory Key", r"AKC[A-Za-z0-9]{50,}"),
    ("1Password Token", r"ops_eyJ[\w-]{50,}|A3-[A-Z0-9]{6}-[A-Z0-9-]{20,}"),
    ("Age Key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    ("NATS Seed", r"S[ACNOU][A-Z2-7]{56}(?![A-Z0-9])"),
    ("Wallet Key", r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,}"),
    ("JSON Web Token", r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*"),
    ("Password Hash", r"\$(?:1|2[aby]|5|6|y|apr1|argon2(?:id|i|d))\$[./A-Za-z0-9$=,+]{20,}"),
)
"""Kind, and what the token looks like. None begins within a run of letters and digits."""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("Password", r"[A-Za-z][A-Za-z0-9+.-]*://[^\s:@/\"'<>`|]*:([^\s/\"'<>`|]+)@(?=[\w.\[-])"),
    ("Password", r"[A-Za-z][A-Za-z0-9+.-]*://[^\s:@/\"'<>`|]*:([^\s@\"'<>`|]+)@(?=[\w.\[-])"),
    ("Password", (r"\b(?:curl|wget|https?|xh)\b.*?\s(?:-[uUa]|--user|--proxy-user|--auth)[= ]?"
     r"[\"']?[^\s:\"']+:([^\s\"']+)")),
    ("Password", r"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass)\b.*?\s-p[\"']?([^\s\"']+)"),
    ("Password", r"\bsshpass\s+-p\s+[\"']?([^\s\"']+)"),
    ("Password", r"\b(?:mongosh?|redis-cli|docker login|svn|smbclient)\b.*?\s-(?:p|a)\s+[\"']?([^\s\"'-][^\s\"']*)"),
    ("Password", (r"(?i:--(?:password|passwd|pass|pwd|passphrase|token|secret|api-key|access-key|auth-token))"
     r"[= ][\"']?([^\s\"'$<{-][^\s\"']{3,})")),
    ("Password", r"(?i:\bidentified\s+by|\bwith\s+(?:encrypted\s+)?password)\s+[\"']([^\"']{3,})[\"']"),
    ("Password", r"(?i:\blogin\s+\S+\s+password)\s+(\S+)"),
    ("Password", r"(?i:^\s*(?:requirepass|masterauth))\s+(\S+)"),
    ("Authorization", (r"(?i:authorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token|apikey|digest|ssws|key))"
     r"\s+[\"']?([^\s\"',]{4,})")),
    ("Authorization", r"(?i:\bbearer)\s+(?=[\w.~+/-]*\d)([\w.~+/-]{16,}=*)"),
    ("Key", (r"[?&](?i:sig|signature|x-amz-signature|key|code|auth|access_token|token|api_?key|password"
     r"|secret|client_secret)="
     r"(?=[^&]*\d)([^&\s)>\"'#\]]{12,})")),
)  # fmt: skip
"""Kind, and a form of a command, a header or an address whose group is the secret."""

PASSWORD_WORDS = (
    r"passw(?:or)?ds?", r"passwort", r"kennwort", r"passphrase", r"passcode", r"pwd", r"(?<![^\W\d_])pass",
    r"(?<![^\W\d_])pw",
    r"contrase(?:ñ|n)a", r"mot\s+de\s+passe", r"senha", r"wachtwoord", r"hasło", r"пароль", r"密码", r"密碼",
    r"パスワード", r"비밀번호",
)  # fmt: skip
"""What a password is announced by."""

KEY_WORDS = (
    (r"(?:api|access|auth|secret|private|encryption|signing|account|shared[ _-]?access|deploy|license|service[ _-]?role"
    r"|master|preshared|pre-shared|recovery|client)[ _-]?key(?:[ _-](?:data|base|id(?=\s*[:=]\s*AKIA)))?"),
    r"token", r"secret", r"credentials?", r"bearer", r"(?<![^\W\d_])psk", r"(?<=_)auth", r"(?<=\")auth(?=\")",
    r"secret[ _-]key[ _-]base", r"webhook[ _-]?secret",
)  # fmt: skip
"""What a key or a token is announced by."""

NO_SECRETS = frozenset((
    "1password", "above", "any", "ask", "basic", "bearer", "below", "bitwarden", "blank", "bool", "bytes",
    "changed", "changeme", "correct", "default", "disabled", "empty", "enabled", "encrypted", "env",
    "environment", "example", "expired", "false", "forgotten", "generated", "hashed", "here", "hidden",
    "input", "int", "invalid", "keepass", "keychain", "lastpass", "lost", "manager", "masked", "missing",
    "n/a", "needed", "nil", "no", "none", "null", "off", "on", "optional", "passwd", "password",
    "placeholder", "plain", "plaintext", "prompt", "redacted", "required", "reset", "rotated", "safe", "same",
    "secret", "see", "stored", "str", "string", "tbd", "text", "there", "todo", "token", "true", "unchanged",
    "unknown", "unset", "valid", "value", "vault", "wrong", "yes",
))  # fmt: skip
"""Words that stand where a secret could, and are none."""
