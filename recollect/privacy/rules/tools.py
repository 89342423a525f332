"""Shapes of secrets of developer tools, hosts, databases and of general formats.

In: nothing. Out: `TOOLS`. What can go wrong: see `definition.py`.
"""

from recollect.privacy.rules.definition import Rule

_END = r"(?![A-Za-z0-9])"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

TOOLS: tuple[Rule, ...] = (
    # forges and registries
    Rule(
        "github-token",
        ("gh[pousr]_",),
        r"gh[pousr]_[A-Za-z0-9_]{36,}",
        ("ghp_{A36}", "gho_{A36}", "ghu_{A36}", "ghs_{A36}", "ghr_{A76}"),
        ("ghp_short", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ),
    Rule(
        "github-pat",
        ("github_pat_",),
        r"github_pat_[A-Za-z0-9_]{36,}",
        ("github_pat_{A22}_{A59}",),
        ("github_pat_token",),
    ),
    Rule(
        "gitlab-token",
        ("gl[a-z]{2,7}-", "GR1348941"),
        r"(?:gl(?:pat|dt|rt|rtr|ptt|ft|soat|cbt|imt|agent|oas|ffct|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
        (
            "glpat-{w20}",
            "glptt-{h40}",
            "gldt-{w20}",
            "glrt-{w20}",
            "glsoat-{w20}",
            "glcbt-{a4}_{w20}",
            "glft-{w20}",
            "glimt-{w25}",
            "glagent-{w50}",
            "gloas-{h64}",
            "GR1348941{w20}",
        ),
        ("global-something-that-is-long-enough", "glue-code"),
    ),
    Rule("bitbucket-token", ("ATBB",), r"ATBB[A-Za-z0-9_=-]{24,}", ("ATBB{A32}",)),
    Rule(
        "atlassian-token",
        ("AT[A-Z]TT3",),
        r"AT[A-Z]TT3[A-Za-z0-9_=+/-]{40,}",
        ("ATATT3xFfGF0{w170}={H8}", "ATCTT3xFfGN0{w170}={H8}"),
    ),
    Rule(
        "npm-token",
        ("npm_",),
        r"npm_[A-Za-z0-9]{36,}",
        ("npm_{A36}",),
        ("npm_config_registry", "npm_lifecycle_event"),
    ),
    Rule(
        "pypi-token",
        ("pypi-",),
        r"pypi-[A-Za-z0-9_-]{50,}",
        ("pypi-AgEIcHlwaS5vcmc{w150}", "pypi-{w90}"),
        ("pypi-publish",),
    ),
    Rule(
        "rubygems-key",
        ("rubygems_",),
        r"rubygems_[0-9a-f]{40,}",
        ("rubygems_{h48}",),
        ("rubygems_version",),
    ),
    Rule("crates-token", ("cio[A-Za-z0-9]{32}",), rf"cio[A-Za-z0-9]{{32}}{_END}", ("cio{A32}",)),
    Rule("nuget-key", ("oy2[a-z0-9]{43}",), rf"oy2[a-z0-9]{{43}}{_END}", ("oy2{a43}",)),
    Rule(
        "docker-token",
        ("dckr_",),
        r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",
        ("dckr_pat_{w27}", "dckr_oat_{w32}"),
    ),
    Rule(
        "jfrog-key",
        ("AKCp", "cmVmdGtuO"),
        r"(?:AKCp[A-Za-z0-9]{50,}|cmVmdGtuO[A-Za-z0-9+/=]{40,})",
        ("AKCp{A69}", "cmVmdGtuO{A55}"),
    ),
    Rule("clojars-token", ("CLOJARS_",), r"CLOJARS_[0-9a-z]{60}", ("CLOJARS_{a60}",)),
    # hosting and delivery
    Rule("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{30,}", ("HRKU-{u}", "HRKU-AA{w58}")),
    Rule(
        "netlify-token",
        ("nf[pcoub]_[A-Za-z0-9]",),
        rf"nf[pcoub]_[A-Za-z0-9]{{30,}}{_END}",
        ("nfp_{A36}", "nfc_{A36}"),
        ("nfc_normalize",),
    ),
    Rule(
        "vercel-token",
        ("vc[pikar]_", "vercel_blob_rw_"),
        r"(?:vc[pikar]_[A-Za-z0-9]{24,}|vercel_blob_rw_[A-Za-z0-9_]{30,})",
        ("vcp_{A56}", "vercel_blob_rw_{A16}_{A30}"),
    ),
    Rule(
        "cloudflare-token",
        (r"v1\.0-", "cf[au]t_", "cfk_"),
        r"(?:v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|cf(?:[au]t|k)_[A-Za-z0-9_-]{36,})",
        ("v1.0-{h24}-{h146}", "cfut_{A48}"),
        ("v1.0-beta",),
    ),
    Rule(
        "fly-token",
        ("fo1_", "fm[12][ar]?_"),
        r"(?:fo1_[A-Za-z0-9_-]{40,}|fm[12][ar]?_[A-Za-z0-9+/=,_-]{60,})",
        ("fo1_{w43}", "fm2_{b200}=="),
    ),
    Rule(
        "render-key", ("rnd_[A-Za-z0-9]{28}",), rf"rnd_[A-Za-z0-9]{{28,40}}{_END}", ("rnd_{A32}",)
    ),
    Rule(
        "tailscale-key",
        ("tskey-",),
        r"tskey-[a-z]+-[A-Za-z0-9_-]{16,}",
        ("tskey-auth-{A16}-{A32}", "tskey-api-{A12}CNTRL-{A32}"),
    ),
    Rule("pulumi-token", ("pul-",), rf"pul-[0-9a-f]{{40}}{_END}", ("pul-{h40}",)),
    Rule(
        "terraform-token",
        (r"\.atlasv1\.",),
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",
        ("{A14}.atlasv1.{w67}",),
        back=14,
    ),
    Rule(
        "buildkite-token",
        ("bkua_", "bkct_", "bkaj_"),
        r"bk(?:ua|ct|aj)_[0-9a-zA-Z]{30,}",
        ("bkua_{h40}",),
    ),
    Rule(
        "circleci-token",
        ("CCIPAT_", "CCIPRJ_"),
        r"CCIP(?:AT|RJ)_[A-Za-z0-9_-]{30,}",
        ("CCIPAT_{A22}_{h40}",),
    ),
    # watching and running
    Rule(
        "newrelic-key",
        ("NR[A-Z]{2}-",),
        r"(?:NR(?:AK|JS|II|AA|RA|SP)-[A-Za-z0-9_-]{19,})",
        ("NRAK-{U27}", "NRJS-{h19}", "NRII-{w32}"),
    ),
    Rule(
        "sentry-token",
        ("sntry[su]_",),
        r"sntry[su]_[A-Za-z0-9+/=_-]{40,}",
        ("sntryu_{h64}", "sntrys_eyJ{b120}_{b43}"),
    ),
    Rule(
        "grafana-token",
        ("glc_", "glsa_"),
        r"(?:glc_[A-Za-z0-9+/=_-]{32,}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8})",
        ("glc_{b120}==", "glsa_{A32}_{h8}"),
        ("glc_context",),
    ),
    Rule("grafana-token", ("eyJrIjoi",), r"eyJrIjoi[A-Za-z0-9+/=_-]{40,}", ("eyJrIjoi{b80}==",)),
    Rule(
        "dynatrace-token",
        (r"dt0[a-z]\d\d\.",),
        r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
        ("dt0c01.{U24}.{U64}",),
    ),
    Rule("honeycomb-key", ("hc[a-z]ik_",), r"hc[a-z]ik_[A-Za-z0-9]{32,}", ("hcaik_{a58}",)),
    Rule(
        "launchdarkly-key",
        (r"sdk-[0-9a-f]{8}-", r"api-[0-9a-f]{8}-", "mob-[0-9a-f]{8}-"),
        rf"(?:sdk|api|mob)-{_UUID}",
        ("sdk-{u}", "api-{u}"),
    ),
    Rule(
        "sonar-token", ("sq[pau]_",), rf"sq[pau]_[0-9a-f]{{40}}{_END}", ("sqp_{h40}", "squ_{h40}")
    ),
    Rule(
        "sourcegraph-token",
        ("sgp_",),
        r"sgp_(?:[0-9a-zA-Z]{1,32}_)?[0-9a-f]{40}",
        ("sgp_{h40}", "sgp_{h16}_{h40}"),
    ),
    # work tools
    Rule(
        "linear-key",
        ("lin_",),
        r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,}",
        ("lin_api_{A40}", "lin_oauth_{h64}"),
        ("lin_reg",),
    ),
    Rule(
        "notion-token",
        ("ntn_", "secret_[A-Za-z0-9]{43}"),
        rf"(?:ntn_[A-Za-z0-9]{{40,}}|secret_[A-Za-z0-9]{{43}}{_END})",
        ("ntn_{A46}", "secret_{A43}"),
        ("secret_access_key",),
    ),
    Rule(
        "figma-token",
        ("fig[a-z]{1,2}_",),
        r"fig(?:d|o|u|or|ur)_[A-Za-z0-9_-]{36,}",
        ("figd_{w40}", "figd_{w43}"),
        ("fig_size",),
    ),
    Rule(
        "onepassword-token",
        ("ops_eyJ", "A3-[A-Z0-9]{6}-"),
        r"(?:ops_eyJ[A-Za-z0-9+/=_-]{60,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})",
        ("ops_eyJ{b250}", "A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}"),
        ("ops_per_second", "A3-size"),
    ),
    Rule(
        "vault-token",
        (r"hv[sbr]\.",),
        r"hv[sbr]\.[A-Za-z0-9_-]{24,}",
        ("hvs.{w90}", "hvb.{w140}", "hvs.CAES{w90}"),
        ("hvs.client",),
    ),
    Rule(
        "doppler-token",
        (r"dp\.[a-z]{2}",),
        r"dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
        ("dp.pt.{A43}", "dp.st.dev.{A43}", "dp.st.{A40}"),
    ),
    Rule(
        "databricks-token",
        ("dapi[0-9a-f]{32}", "dose[0-9a-f]{32}"),
        rf"d(?:api|ose)[0-9a-f]{{32}}(?:-\d)?{_END}",
        ("dapi{h32}", "dapi{h32}-2"),
    ),
    Rule(
        "planetscale-token",
        ("pscale_",),
        r"pscale_(?:tkn|pw|oauth|api)_[A-Za-z0-9_.=-]{30,}",
        ("pscale_tkn_{w43}", "pscale_pw_{w43}", "pscale_oauth_{w43}"),
    ),
    Rule(
        "supabase-token",
        ("sbp_", "sb_secret_"),
        r"(?:sbp_(?:v0_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})",
        ("sbp_{h40}", "sb_secret_{w31}"),
    ),
    Rule("neon-key", ("napi_",), r"napi_[a-z0-9]{40,}", ("napi_{a64}",)),
    Rule("readme-key", ("rdme_",), r"rdme_[a-z0-9]{60,}", ("rdme_{a70}",)),
    Rule("prefect-key", ("pn[ub]_",), rf"pn[ub]_[A-Za-z0-9]{{36}}{_END}", ("pnu_{A36}",)),
    Rule(
        "shippo-token", ("shippo_",), r"shippo_(?:live|test)_[0-9a-f]{40}", ("shippo_live_{h40}",)
    ),
    Rule("easypost-key", ("EZ[AT]K[A-Za-z0-9]{50}",), r"EZ[AT]K[A-Za-z0-9]{50,}", ("EZAK{A54}",)),
    # formats
    Rule(
        "age-key",
        ("AGE-SECRET-KEY-",),
        r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}",
        ("AGE-SECRET-KEY-1{U58}",),
        ("AGE-SECRET-KEY-1",),
    ),
    Rule(
        # The first bytes of a known prefix, or of a private key, in base64.
        "base64-secret",
        (
            *("Z2h[vwz]X", "Z2h1X", "Z2l0aHViX3BhdF", "Z2xwYXQt", "QUtJQ", "c2stYW50", "c2stcHJva"),
            *("eG94Y", "c2tfbGl2ZV", "QUl6Y", "bnBtX", "LS0tLS1CRUdJTi"),
        ),
        r"(?:Z2h[vwz]X|Z2h1X|Z2l0aHViX3BhdF|Z2xwYXQt|QUtJQ|c2stYW50|c2stcHJva|eG94Y|c2tfbGl2ZV|QUl6Y|bnBtX"
        r"|LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM))[A-Za-z0-9+/_-]{20,}={0,2}",
        ("Z2hwX{b50}", "QUtJQ{b22}", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt{b200}=="),
        ("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS{b60}",),
    ),
    Rule(
        "jwt",
        ("eyJ[A-Za-z0-9_-]{6}",),
        r"(?<![_-])eyJ[A-Za-z0-9_-]{6,}={0,2}\.eyJ[A-Za-z0-9_-]{6,}={0,2}(?:\.[A-Za-z0-9_-]+={0,2}){0,3}",
        ("eyJhbGciOiJIUzI1NiJ9.eyJ{A60}.{w43}", "eyJ{A33}.eyJ{A120}.{w86}", "eyJ{A33}.eyJ{A40}."),
        ("eyJhbGciOiJIUzI1NiJ9",),
    ),
    Rule(
        "jwe",
        (r"eyJ[A-Za-z0-9_-]{6}",),
        r"(?<![_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
        ("eyJ{A40}.{w256}.{w16}.{w100}.{w22}",),
    ),
    Rule(
        "password-hash",
        (r"\$2[aby]\$\d\d\$", r"\$argon2", r"\$[156y]\$"),
        r"\$(?:2[aby]\$\d\d\$[A-Za-z0-9./]{53}|argon2[a-z]{1,2}\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}|[56y]\$(?:rounds=\d+\$)?[A-Za-z0-9./$]{8,40}\$[A-Za-z0-9./]{43,86})",
        ("$2b$12${A53}", "$argon2id$v=19$m=65536,t=3,p=4${A22}${A43}", "$6${A16}${A86}"),
    ),
)
