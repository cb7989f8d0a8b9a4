package redaction_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/redaction"
)

// long has all characters that some program escapes.
const long = "it's <50%> of $HOME & \"K8s\"\\/?=+ü"

func values(all ...string) *redaction.Values {
	v := &redaction.Values{}
	for _, value := range all {
		v.Add(value)
	}
	return v
}

func TestText(t *testing.T) {
	const mask = redaction.Mask
	quoted, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(quoted))
	if err != nil {
		t.Fatal(err)
	}
	const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END KEY-----\n"
	const file = "[database]\nconnection = mysql+pymysql://nova:s3cr%2Fet@mariadb:3306/nova\ndebug = false\nauth_url = http://keystone:5000/v3\nadmin_password = 'pw7'\nmemcache_secret = aGreatSecret\n"
	huge := "db_password = s3cr-et-word\n" + strings.Repeat("0123456789abcdef-", 5000) + "end"
	for name, test := range map[string]struct{ value, text, want string }{
		"plain":                {"hunter2-hunter2", "weak: hunter2-hunter2!", "weak: " + mask + "!"},
		"within a word":        {"hunter2-hunter2", "xhunter2-hunter2x", "x" + mask + "x"},
		"twice":                {"hunter2-hunter2", "hunter2-hunter2hunter2-hunter2 hunter2-hunter2", mask + " " + mask},
		"base64":               {"hunter2-hunter2", "data aHVudGVyMi1odW50ZXIy.", "data " + mask + "."},
		"base64 of more":       {"hunter2-hunter2", base64.StdEncoding.EncodeToString([]byte("user:hunter2-hunter2@host")), "dXNl" + mask + "AaG9zdA=="},
		"base64 for URLs":      {"??>>~~??>>~~", "is " + base64.URLEncoding.EncodeToString([]byte("??>>~~??>>~~")), "is " + mask},
		"JSON":                 {long, "{" + string(quoted) + "}", `{"` + mask + `"}`},
		"JSON in JSON":         {long, string(twice), `"\"` + mask + `\""`},
		"quoted by Go":         {long, strconv.Quote(long), `"` + mask + `"`},
		"in ASCII":             {long, strconv.QuoteToASCII(long), `"` + mask + `"`},
		"query":                {long, "?p=" + url.QueryEscape(long), "?p=" + mask},
		"path":                 {long, "/" + url.PathEscape(long) + "/x", "/" + mask + "/x"},
		"user":                 {long, url.UserPassword("u", long).String(), "u:" + mask},
		"YAML":                 {long, "'" + strings.ReplaceAll(long, "'", "''") + "'", "'" + mask + "'"},
		"hexadecimal":          {"hunter2-hunter2", hex.EncodeToString([]byte("hunter2-hunter2")), mask},
		"cut at the end":       {"Hunter2-hunter2", "weak: Hunte", "weak: " + mask},
		"cut in quotes":        {"Hunter2-hunter2", "weak: \"Hunte\"", "weak: \"" + mask + "\""},
		"a word at the end":    {"passw0rd-of-nova passw", "invalid passw", "invalid passw"},
		"a name of a setting":  {file, "lost connection", "lost connection"},
		"a name of a secret":   {file, "invalid admin_password", "invalid admin_password"},
		"a word of a value":    {"my-database-password", "invalid password", "invalid password"},
		"a key":                {file, ".data.connection", ".data.connection"},
		"a word before dots":   {file, "conne...", mask + "..."},
		"a huge value":         {huge, "db_password = s3cr-et-word: " + huge[70000:70100], "db_password = " + mask + ": " + huge[70000:70100]},
		"all of a huge value":  {huge, "<" + huge + ">", "<" + mask + ">"},
		"cut before dots":      {"hunter2-hunter2", "weak: hunter... (see)", "weak: " + mask + "... (see)"},
		"cut by a word":        {"hunter2-hunter2", "weak: 'hunte' [truncated]", "weak: '" + mask + "' [truncated]"},
		"cut on both sides":    {"a long phrase of many words", "|...ong phrase o...|", "|..." + mask + "...|"},
		"the beginning":        {"swordfish-swordfish", "weak: swordfish", "weak: " + mask},
		"the middle":           {"hunter2-hunter2", "er2-hun is weak", mask + " is weak"},
		"the middle, base64":   {"a-password-of-32-characters-xxxx", "1wYXNzd29yZC1vZi, weak", mask + ", weak"},
		"a line of a key":      {key, "bad: MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "bad: " + mask},
		"lines of a key":       {key, "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj and a word", mask + " and a word"},
		"part of a line":       {key, "xwggSjAgEAAoIBAQC7Vx", "x" + mask + "x"},
		"a whole file":         {file, file, mask},
		"a password in a URL":  {file, "no s3cr%2Fet or s3cr/et", "no " + mask + " or " + mask},
		"a password in a file": {file, "aGreatSecret", mask},
		"words of a file":      {file, "[database] debug: connection to keystone:5000 refused", "[database] debug: connection to keystone:5000 refused"},
		"JSON values":          {`{"auths":{"r.example.org":{"username":"robot$x","auth":"cm9ib3Q6dGhlLXRva2Vu"}}}`, "r.example.org said no to cm9ib3Q6dGhlLXRva2Vu, the-token", "r.example.org said no to " + mask + ", " + mask},
		"a short word":         {"pass1", "pass1, pass1-x, xpass1, 'pass1'", mask + ", pass1-x, xpass1, '" + mask + "'"},
		"too short":            {"abc", "abc", "abc"},
		"a bool":               {"true", "true", "true"},
		"common words":         {"my-database-password", "Invalid value: password of database", "Invalid value: password of database"},
		"its host":             {"https://keystone.openstack.svc:5000/v3", "no route to keystone.openstack.svc:5000", "no route to keystone.openstack.svc:5000"},
		"nothing":              {"hunter2-hunter2", "", ""},
		"binary":               {"\xff\x00\xfe\x01\xff\x00\xfe\x01\xff", base64.StdEncoding.EncodeToString([]byte("\xff\x00\xfe\x01\xff\x00\xfe\x01\xff")), mask},
		"equal characters":     {strings.Repeat("-", 500), strings.Repeat("-", 400) + "!", mask + "!"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := values(test.value).Text(test.text); got != test.want {
				t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestTextKeepsPublicPieces(t *testing.T) {
	v := values("openstack-mariadb-openstack")
	const text = `secrets "mariadb" in openstack-mariadb: no openstack-mariadb-openstack`
	if got, want := v.Text(text, "/api/v1/namespaces/openstack-mariadb/secrets/x"), `secrets "mariadb" in openstack-mariadb: no `+redaction.Mask; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Only what the configuration declares makes a whole value public.
func TestNamesOfDeclaredObjectsArePublic(t *testing.T) {
	v := &redaction.Values{}
	v.AddObject(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{
		"a": "keystone", "b": "openstack", "c": "mariadb", "d": "rabbitmq", "e": "keystone-4Xq1-Tz77",
	}})
	object := func(name string) map[string]any {
		return map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": name, "namespace": "theirs"}}
	}
	v.Declare("keystone-api", "openstack", "rabbitmq")
	v.AddObject(object("mariadb"))
	v.AddObject(object("the-mariadb"))
	for _, clean := range []func(string) string{v.Mixed, func(s string) string { return v.Text(s) }} {
		const text = `deployments "keystone-api" in openstack: rabbitmq has `
		if got, want := clean(text+"keystone, keystone-4Xq1-Tz77"), text+redaction.Mask+", "+redaction.Mask; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := v.Text("mariadb"); got != redaction.Mask {
		t.Errorf("the name of an object of others shows a value: %q", got)
	}
	v.Add("rabbitmq")
	if got := v.Text("rabbitmq"); got != redaction.Mask {
		t.Errorf("the name of an object shows a sensitive value: %q", got)
	}
}

// Words of any name stay where they are pieces of a value.
func TestWordsOfNamesArePublicPieces(t *testing.T) {
	v := values("openstack-mariadb-4Xq1")
	v.AddObject(map[string]any{"kind": "Service", "metadata": map[string]any{"name": "mariadb", "namespace": "openstack"}})
	if got, want := v.Text("no openstack-mariadb; openstack-mariadb-4Xq1"), "no openstack-mariadb; "+redaction.Mask; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAround(t *testing.T) {
	v := values("immutable")
	const text = "immutable: field is immutable"
	if got, want := v.Around(text, [][]int{{11, len(text)}}), redaction.Mask+": field is immutable"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMixed(t *testing.T) {
	v := values("admin", "hunter2-hunter2")
	if got, want := v.Mixed("admin gave hunter2-hunter2, and hunter2-h"), "admin gave "+redaction.Mask+", and hunter2-h"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAddObject(t *testing.T) {
	v := &redaction.Values{}
	secret := func(kind, typ string, values map[string]any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": kind, "type": typ, "data": values, "stringData": map[string]any{"b": "swordfish-swordfish"}}
	}
	v.AddObject(secret("ConfigMap", "", map[string]any{"a": "not-a-secret-1"}))
	v.AddObject(secret("Secret", "kolla.openstack.org/state", map[string]any{"a": "not-a-secret-2"}))
	v.AddObject(secret("Secret", "helm.sh/release.v1", map[string]any{"a": "not-a-secret-3"}))
	if got := v.Text("not-a-secret-1 not-a-secret-2 not-a-secret-3 swordfish-swordfish"); strings.Contains(got, redaction.Mask) {
		t.Errorf("these are no secrets: %q", got)
	}
	v.AddObject(secret("Secret", "Opaque", map[string]any{"a": base64.StdEncoding.EncodeToString([]byte("hunter2-hunter2")), "c": 5}))
	if got, want := v.Text("hunter2-hunter2, swordfish-swordfish"), redaction.Mask+", "+redaction.Mask; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var none *redaction.Values
	none.AddObject(secret("Secret", "Opaque", nil))
	if got := none.Text("hunter2-hunter2"); got != "hunter2-hunter2" {
		t.Errorf("%q", got)
	}
}

// FuzzText holds that no value, and no form of it, is left in a text that quotes it, and that
// nothing else of the text is lost.
func FuzzText(f *testing.F) {
	for _, seed := range [][3]string{
		{"hunter2-hunter2", "weak: ", "!"}, {long, "", ""}, {"aaaaaaaaaaaaaaaa", "aaa", "aaaa"}, {"line one\nline two", "\n", "\t"}, {"abababababab", "ab", "aba"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, value, before, after string) {
		if len(strings.TrimSpace(value)) < 8 || strings.TrimSpace(value) != value || strings.Contains(redaction.Mask, value) { //nolint:gocritic // it asks whether the mask has the value in it
			t.Skip()
		}
		v := values(value)
		for _, quoted := range []string{value, strconv.Quote(value), base64.StdEncoding.EncodeToString([]byte(value)), url.QueryEscape(value)} {
			got := v.Text(before + "\x00" + quoted + "\x00" + after)
			if strings.Contains(got, strings.Trim(quoted, `"=`)) {
				t.Errorf("%q is left in %q", quoted, got)
			}
			if !strings.Contains(got, redaction.Mask) {
				t.Errorf("nothing stands for %q in %q", quoted, got)
			}
		}
	})
}

// BenchmarkText has as many values as a large cloud, and a text as long as a log.
func BenchmarkText(b *testing.B) {
	v := &redaction.Values{}
	for i := range 5000 {
		v.Add(fmt.Sprintf("%x-password-%d", i*2654435761, i))
	}
	text := strings.Repeat("2026-11-20 12:00:00.123 7 INFO nova.compute [req-8a7c] the instance started, all is well\n", 100)
	v.Text(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		v.Text(text)
	}
}

// BenchmarkAdd builds the index.
func BenchmarkAdd(b *testing.B) {
	for b.Loop() {
		v := &redaction.Values{}
		for i := range 1000 {
			v.Add(fmt.Sprintf("%x-password-%d", i*2654435761, i))
		}
		v.Text("a text")
	}
}
