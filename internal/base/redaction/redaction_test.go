package redaction_test

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/base/redaction"
)

// long contains all characters that some format escapes.
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

// TestTextWithParts tests kinds of values: each has a text that quotes the value, or a text that
// only looks similar.
func TestTextWithParts(t *testing.T) {
	const mask = redaction.Mask
	const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
	const account = `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEA\n-----END PRIVATE KEY-----\n"}`
	const manifest = "apiVersion: v1\nmetadata:\n  name: x\nstringData:\n  - \"password\": 'pw''12345'\n"
	for name, test := range map[string]struct{ value, text, want string }{
		"lines in JSON":            {account, "bad line " + line, "bad line " + mask},
		"a cut line in JSON":       {account, account[:90], `{"type":"` + mask + `","private_key":"-----BEGIN PRIVATE KEY-----\n` + mask},
		"common words in JSON":     {account, `serviceaccounts "x" not found: no private service account`, `serviceaccounts "x" not found: no private service account`},
		"JSON in JSON":             {`{"config":"{\"db\":{\"password\":\"pw12345\"}}"}`, "db: pw12345", "db: " + mask},
		"short JSON":               {`{"secrets":{"a":"pw12345"},"user":"nova","token":12345678,"size":87654321}`, "nova pw12345 12345678 87654321", "nova " + mask + " " + mask + " 87654321"},
		"a list in JSON":           {`["s3cret1",{"name":"nova"}]`, "s3cret1 of nova", mask + " of nova"},
		"lines in quotes":          {"key: \"-----BEGIN KEY-----\\n" + line + "\\n\"\nhost: x", line, mask},
		"a key and its marks":      {"-----BEGIN KEY-----\n" + line + "\n-----END KEY-----\n", "-----BEGIN KEY-----: no " + line, "-----BEGIN KEY-----: no " + mask},
		"openrc":                   {"export OS_USERNAME=nova\nexport OS_PASSWORD=hunter2-hunter2\n", "auth failed for nova: hunter2-hunter2", "auth failed for nova: " + mask},
		"a list in YAML":           {"- user: nova\n- password: hunter2-hunter2\n", "nova hunter2-hunter2", "nova " + mask},
		"a map in YAML":            {"all:\n- {user: nova, password: pw12345}\n", "nova pw12345", "nova " + mask},
		"quotes in YAML":           {manifest, "pw'12345", mask},
		"keys in YAML":             {manifest, "spec.template.metadata: Required", "spec.template.metadata: Required"},
		"netrc":                    {"machine h login nova password pw12345", "nova at h: pw12345", "nova at h: " + mask},
		"netrc in lines":           {"machine h\nlogin nova\npassword pw12345\n", "nova at h: pw12345", "nova at h: " + mask},
		"Redis":                    {"port 6379\nrequirepass pw12345\n", "6379 pw12345", "6379 " + mask},
		"SQL":                      {"CREATE USER nova IDENTIFIED BY 'pw12345';", "nova pw12345", "nova " + mask},
		"prose about a password":   {"# the password must be long\nx", "it must be", "it must be"},
		"options of a connection":  {"host=db user=nova password=pw12345 dbname=cell", "nova cell pw12345", "nova cell " + mask},
		"a query":                  {"https://h/?user=nova&token=pw12345", "nova pw12345", "nova " + mask},
		"an option of a command":   {"set -e\nmysql --password=pw12345 nova\n", "nova pw12345", "nova " + mask},
		"a line with a comment":    {"password = pw12345 # of nova", "weak: pw12345 of all", "weak: " + mask + " of all"},
		"a phrase":                 {"password = pass the phrase", "pass: pass the phrase", "pass: " + mask},
		"a setting of one line":    {"password = pw12345", "pw12345", mask},
		"Keystone is no key":       {"keystone_url = http://keystone:5000/v3\nkeystone_host: api.example", "http://keystone:5000/v3 api.example", "http://keystone:5000/v3 api.example"},
		"a host is no name":        {"http://secret-store:8200/x", "port 8200", "port 8200"},
		"htpasswd":                 {"nova:$2y$05$abcdefghijk/lmnop.qrs", "nova: $2y$05$abcdefghijk/lmnop.qrs", "nova: " + mask},
		"htpasswd, SHA":            {"a:b\nnova:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "nova: {SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "nova: " + mask},
		"a user and a password":    {"nova:pw12345678", "nova: pw12345678", "nova: " + mask},
		"a user and a phrase":      {"a: b\nnova:correct-horse-battery\nx", "correct-horse-battery", mask},
		"a tag":                    {"a: b\nnova:openstack\nx", "no openstack", "no openstack"},
		"a host and a port":        {"keystone.svc:5000", "no port 5000", "no port 5000"},
		"short lines":              {"s3cret1\ns3cret2\n", "s3cret1, s3cret2", mask + ", " + mask},
		"short lines of a script":  {"while true; do\nfoo\ndone\n", "it is done", "it is done"},
		"an end of a word":         {"Password123!", "Invalid value: password: must not", "Invalid value: password: must not"},
		"a usual word":             {"password123", "Password: invalid passwords", "Password: invalid passwords"},
		"most of a password":       {"Password123!", "word123! and Password123", mask + " and " + mask},
		"the begin of two words":   {"nova_cell0", "nova_compute nova-conductor nova_cell1", "nova_compute nova-conductor " + mask + "1"},
		"a name of a package":      {"keystone123", "keystoneauth1: no keystone", "keystoneauth1: no keystone"},
		"a word of two":            {"billing_user12", "billing failed", "billing failed"},
		"half of a word":           {"hunterhunter", "weak: hunterhu is", "weak: " + mask + " is"},
		"the end of another word":  {"admin-hunter2", "no sysadmin", "no sysadmin"},
		"a piece of a short value": {"pass123", "compass12 pass12 pass1234", "compass12 " + mask + " pass1234"},
		"signs of UTF-8":           {"pass123", "“pass123” pass123… épass123 pass123é", "“" + mask + "” " + mask + "… épass123 pass123é"},
		"scripts without blanks":   {"pass123", "密码pass123错误", "密码" + mask + "错误"},
		"after an escape":          {"pass123", `\npass123 \tpass123 \u003cpass123 \\npass123`, `\n` + mask + ` \t` + mask + ` \u003c` + mask + ` \\n` + mask},
		"after an escape in a URL": {"pass123", "p%3Dpass123&p%253Dpass123&npass123", "p%3D" + mask + "&p%253D" + mask + "&npass123"},
		"in color":                 {"pass123", "\x1b[31mpass123\x1b[0m 31mpass123", "\x1b[31m" + mask + "\x1b[0m 31mpass123"},
		"a letter and a backslash": {"pass123", `\\hostpass123 \npass1234`, `\\hostpass123 \npass1234`},
		"a rule of a file":         {"title\n========\nhunter2-hunter2\n", "======== hunter2-hunter2", "======== " + mask},
		"dashes in a value":        {"abcd--------efgh-1234", "+--------+ abcd-------- --------efgh", "+--------+ " + mask + " " + mask},
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

// TestNamesOfDeclaredObjectsArePublic checks that a whole value is public only if the configuration
// declares it as a name.
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

// TestWordsOfNamesArePublicPieces checks that the name of any object is not masked where it is only
// a piece of a value.
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

// TestTree checks that only changed parts of a tree are copied.
func TestTree(t *testing.T) {
	v := values("hunter2-hunter2")
	same := map[string]any{"a": []any{"b", int64(1), nil, true}}
	tree := map[string]any{"same": same, "list": []any{"hunter2-hunter2", same}, "hunter2-hunter2": "x"}
	before := fmt.Sprint(tree)
	out, differs := redaction.Tree(tree, func(text string) string { return v.Text(text) })
	masked := out.(map[string]any)
	want := map[string]any{"same": same, "list": []any{redaction.Mask, same}, redaction.Mask: "x"}
	if diff := cmp.Diff(want, masked); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if _, also := redaction.Tree(same, func(text string) string { return v.Text(text) }); !differs || also {
		t.Errorf("differs: %t, and without a secret %t", differs, also)
	}
	if got := fmt.Sprint(tree); got != before {
		t.Errorf("the original became %s", got)
	}
	masked["same"].(map[string]any)["mark"] = ""
	if _, shared := same["mark"]; !shared {
		t.Error("an unchanged part was copied")
	}
	if _, shared := masked["list"].([]any)[1].(map[string]any)["mark"]; !shared {
		t.Error("an unchanged element was copied")
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

// TestOrder checks that the order in which values are added does not change the result.
func TestOrder(t *testing.T) {
	all := []string{
		"a b c\nabcdefgh12345678\n", "abcdefgh12345678", "export TOKEN=abcdefgh12345678", "abcdefgh12345678 and more of it",
	}
	const text = "xabcdefgh1x, abcdefgh12345678, 345678 and mo, YWJjZGVmZ2gxMjM0NTY3OC"
	want := values(all...).Text(text)
	if !strings.HasPrefix(want, "x"+redaction.Mask+"x, "+redaction.Mask) {
		t.Fatalf("a piece is left: %q", want)
	}
	var try func(chosen, rest []string)
	try = func(chosen, rest []string) {
		if len(rest) == 0 {
			if got := values(chosen...).Text(text); got != want {
				t.Errorf("%q: %q, want %q", chosen, got, want)
			}
			v := values(chosen[0])
			v.Text(text) // the other values are added after a search
			for _, value := range chosen[1:] {
				v.Add(value)
			}
			if got := v.Text(text); got != want {
				t.Errorf("%q, one by one: %q, want %q", chosen, got, want)
			}
		}
		for i := range rest {
			try(append(slices.Clone(chosen), rest[i]), slices.Delete(slices.Clone(rest), i, i+1))
		}
	}
	try(nil, all)
}

// TestLongestMatch checks that a match with a piece of another value does not mask more of the
// text.
func TestLongestMatch(t *testing.T) {
	for _, all := range [][]string{{"hunter2-hunter2", "hunter3-hunter3"}, {"hunter3-hunter3", "hunter2-hunter2"}} {
		if got, want := values(all...).Text("was-hunter3-hunter3"), "was-"+redaction.Mask; got != want {
			t.Errorf("%q: %q, want %q", all, got, want)
		}
	}
}

// TestSensitiveInAnyOrder checks that a sensitive value is masked although it is also a declared
// name, whichever came first.
func TestSensitiveInAnyOrder(t *testing.T) {
	for _, first := range []bool{true, false} {
		v := &redaction.Values{}
		if first {
			v.Add("rabbitmq-1")
		}
		v.AddObject(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"a": "rabbitmq-1"}})
		if !first {
			v.Add("rabbitmq-1")
		}
		v.Declare("rabbitmq-1")
		if got := v.Text("rabbitmq-1"); got != redaction.Mask {
			t.Errorf("added first: %v: %q", first, got)
		}
	}
}

// FuzzText checks that no form of a value is left in a text that quotes it, that the rest of the
// text keeps its order, and that characters that no form of the value contains are not lost.
func FuzzText(f *testing.F) {
	for _, seed := range [][3]string{
		{"hunter2-hunter2", "weak: ", "!"}, {long, "", ""}, {"aaaaaaaaaaaaaaaa", "aaa", "aaaa"}, {"line one\nline two", "\n", "\t"}, {"abababababab", "ab", "aba"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, value, before, after string) {
		if len(strings.TrimSpace(value)) < 8 || strings.TrimSpace(value) != value || strings.Contains(redaction.Mask, value) { //nolint:gocritic // it asks whether the mask has the value in it
			return // such a value is not masked
		}
		v := values(value)
		for _, quoted := range []string{value, strconv.Quote(value), base64.StdEncoding.EncodeToString([]byte(value)), url.QueryEscape(value)} {
			text := before + "\x00" + quoted + "\x00" + after
			got := v.Text(text)
			if strings.Contains(got, strings.Trim(quoted, `"=`)) {
				t.Errorf("%q is left in %q", quoted, got)
			}
			if !strings.Contains(got, redaction.Mask) {
				t.Errorf("nothing stands for %q in %q", quoted, got)
			}
			if !isRest(got, text) {
				t.Errorf("%q becomes %q, which has other text than that", text, got)
			}
			left, right := foreignTo(value, before)+"\n", "\n"+foreignTo(value, after)
			if got := v.Text(left + quoted + right); !strings.HasPrefix(got, left) || !strings.HasSuffix(got, right) {
				t.Errorf("%q becomes %q, without text that has nothing of %q", left+quoted+right, got, value)
			}
		}
	})
}

// isRest reports whether got is text with some parts replaced by masks.
func isRest(got, text string) bool {
	parts := strings.Split(got, redaction.Mask)
	if !strings.HasPrefix(text, parts[0]) || !strings.HasSuffix(text, parts[len(parts)-1]) {
		return false
	}
	for _, part := range parts {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// foreignTo returns a text of the same length. It consists of characters that no form of the value
// contains.
func foreignTo(value, text string) string {
	var others []byte
	for c := byte(1); c < ' '; c++ {
		if strings.IndexByte(value, c) < 0 && c != '\n' {
			others = append(others, c)
		}
	}
	if len(others) == 0 {
		return ""
	}
	out := []byte(text)
	for i, c := range out {
		out[i] = others[int(c)%len(others)]
	}
	return string(out)
}

// BenchmarkText masks the values of a large cloud in a text as long as a log.
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

// BenchmarkTextWithCommonPiece masks values that have a piece in common, in a text that contains this piece.
func BenchmarkTextWithCommonPiece(b *testing.B) {
	for _, count := range []int{100, 1000, 10000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			v := &redaction.Values{}
			for i := range count {
				v.Add(fmt.Sprintf("password-%d", i))
			}
			v.Text("a text")
			for b.Loop() {
				v.Text("the key of a password")
			}
		})
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

// BenchmarkTextWithDashes masks the keys of a large cloud in a text with tables.
func BenchmarkTextWithDashes(b *testing.B) {
	for name, line := range map[string]string{
		"tables": "+" + strings.Repeat("-", 60) + "+" + strings.Repeat("-", 60) + "+\n",
		"keys":   "-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n",
	} {
		b.Run(name, func(b *testing.B) {
			v := values(pems(200)...)
			text := strings.Repeat(line, 61<<10/len(line))
			v.Text(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				v.Text(text)
			}
		})
	}
}

// pems returns values that look like PEM-encoded keys.
func pems(count int) []string {
	all := make([]string, count)
	for i := range all {
		var lines strings.Builder
		for line := range 4 {
			sum := sha512.Sum384([]byte{byte(i), byte(i >> 8), byte(line)})
			fmt.Fprintln(&lines, base64.StdEncoding.EncodeToString(sum[:]))
		}
		all[i] = "-----BEGIN PRIVATE KEY-----\n" + lines.String() + "-----END PRIVATE KEY-----\n"
	}
	return all
}
