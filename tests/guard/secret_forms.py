"""Forms in which secrets stand in notes, their values made up at run time: no scanner takes this file for a leak."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator

_ALPHABETS = {
    "n": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "u": string.ascii_uppercase + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
    "l": string.ascii_lowercase + string.digits,
    "v": string.ascii_uppercase + "234567",
}
_VALUE = re.compile(r"\{([nhubdlv])(\d+)\}")

FORMS = (
    "AKIA{v16}", "export AWS_SECRET_ACCESS_KEY=[{b40}]", "aws_session_token = [{b120}]", "ghp_{n36}", "gho_{n36}",
    "github_pat_{n22}_{n59}", "glpat-{n20}", "gldt-{n20}", "xoxb-{d12}-{d12}-{n24}", "xapp-1-A{u10}-{d13}-{h64}",
    "https://hooks.slack.com/services/T{u8}/B{u8}/{n24}", "https://discord.com/api/webhooks/{d18}/{n68}",
    "sk_live_{n24}", "rk_live_{n24}", "whsec_{n32}", "sk-ant-api03-{n80}", "sk-proj-{n48}", "sk-or-v1-{h64}",
    "AIza{n35}", "GOCSPX-{n28}", "ya29.{n60}", "hf_{n34}", "npm_{n36}", "pypi-AgEIcHlwaS5vcmc{n80}", "dop_v1_{h64}",
    "shpat_{h32}", "dapi{h32}", "glsa_{n32}_{h8}", "hvs.{n24}", "hvb.{n40}", "ntn_{n46}", "gsk_{n52}", "r8_{n37}",
    "tskey-auth-{n12}-{n24}", "lin_api_{n40}", "SG.{n22}.{n43}", "key-{h32}", "{h32}-us14", "AC{h32}",
    "{d9}:AA{n33}", "dckr_pat_{n27}", "sntrys_{n60}", "PMAK-{h24}-{h34}", "figd_{n40}", "pul-{h40}",
    "dp.pt.{n43}", "sbp_{h40}", "xkeysib-{h64}-{n16}", "nfp_{n36}", "CFPAT-{n43}", "AGE-SECRET-KEY-1{u58}",
    "eyJ{n30}.eyJ{n40}.{n43}", "GITHUB_TOKEN=ghp_{n36}", "CI_SLACK_TOKEN=xoxp-{d12}-{d12}-{n32}",
    "STRIPE_SECRET=sk_test_{n24}", "MY_AWS_ID=ASIA{v16}", "DB_PASSWORD=[{n14}]", "MYAPP_API_KEY='[{n32}]'",
    "client_secret: [{n32}]", '"clientSecret": "[{n40}]"', "**Password:** [{n10}]", "**Password**: [Tr0ub4dor&{d1}]",
    "- password: [hunter{d2}]", "Passwort: [{n9}!]", "The password is [{n6}#{d2}].", "password:: [{n12}]",
    "pw: [{n8}]", "redis://:[{n12}]@cache.local:6379/0", "postgres://ada:[p{d2}!]@db.local/main",
    "mongodb+srv://ada:[{n16}]@c.mongo.local", "amqp://ada:[{l8}$]@mq.local", "https://ada:[{n20}]@git.local/x.git",
    "curl -u ada:[{n10}] https://x.local", "curl --user 'ada:[{n10}]' https://x.local", "Authorization: Basic [{n28}=]",
    'curl -H "Authorization: Bearer [{n40}]" https://x.local', "X-Api-Key: [{n32}]", "PrivateKey = [{b43}=]",
    "PresharedKey = [{b43}=]", "    client-key-data: [LS0tLS1CRUdJTiBSU0Eg{b2000}]", "    token: [{n48}]",
    "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n[{b48}]\nPrivate-MAC: [{h64}]",
    "-----BEGIN OPENSSH {P}-----\n[{b60}]\n-----END OPENSSH {P}-----",
    "| host | user | password |\n|---|---|---|\n| db | ada | [{n10}] |", "| Password | [{n10}] |",
    "AccountName=x;AccountKey=[{b86}==];EndpointSuffix=y", "Server=db;User Id=ada;Password=[{n12}];Encrypt=true",
    "//registry.local/:_authToken=[{n36}]", "machine x.local login ada password [{n12}]",
    "otpauth://totp/x?secret=[{v32}]&issuer=x", "sshpass -p [{n9}] ssh ada@x.local", "mysql -u root -p[{n9}] shop",
    "CREATE USER ada IDENTIFIED BY '[{n9}]';", "vaultctl login --token=[{n24}]", "PIN: [{d4}]",
    "$2b$12${n53}", "https://x.local/f?sv=2024&sig=[{n43}%3D]", "[{n14}] is the wifi key", "wifi / [swordfish]",
    "seed: [legal winner thank year wave sausage worth useful]", "Password\n[{n10}]", "user,password\nada,[{n10}]",
)  # fmt: skip
"""Each with its secret in brackets; without brackets all of it that is generated is the secret. The last ones are those
that SECURITY.md says are not caught."""

NOT_CAUGHT = 5


def forms(seed: int = 7) -> Iterator[tuple[str, str, list[str]]]:
    """The form, its text, and the secrets in it."""
    chance = random.Random(seed)
    for form in FORMS:
        text = _VALUE.sub(lambda value: _made(chance, value[1], int(value[2])), form).replace("{P}", "PRIVATE" + " KEY")
        if "[" in form:
            yield form, text.replace("[", "").replace("]", ""), re.findall(r"\[(.*?)\]", text)
        else:
            longest = max(re.findall(r"[^\s./=:_-]+", text), key=len)
            yield form, text, [longest]


def _made(chance: random.Random, kind: str, length: int) -> str:
    alphabet = _ALPHABETS[kind]
    made = "".join(chance.choice(alphabet) for _ in range(length))
    # Of each class one, as in real ones: a value that happens to be a word is another form.
    return made if kind != "n" or length < 6 else f"{made[:-4]}a7Q2"
