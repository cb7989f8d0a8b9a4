package functions_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/functions"
)

// inFiles evaluates expressions to JSON, in a copy of testdata. prepare
// may change that before.
func inFiles(t *testing.T, expressions []string, prepare func(dir string)) ([]string, *configs.Config, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	var env strings.Builder
	for i, expression := range expressions {
		fmt.Fprintf(&env, "      E%d = jsonencode(%s)\n", i, expression)
	}
	write(t, filepath.Join(dir, "cloud.hcl"), fmt.Sprintf(`
cloud "test" {
  release = "2025.1"
}

definition "own" {
  workload "w" {
    kind  = "Deployment"
    image = "own"
    env = {
%s    }
  }
}

service "own" {}
`, env.String()))
	if prepare != nil {
		prepare(dir)
	}
	config, diags := lang.Load(dir, lang.Options{})
	values := map[string]string{}
	for _, s := range config.Services {
		for _, e := range s.Workloads[0].Pod.Env {
			values[e.Name] = e.Value.Masked()
		}
	}
	out := make([]string, len(expressions))
	for i := range out {
		out[i] = values[fmt.Sprintf("E%d", i)]
	}
	return out, config, diags
}

// said is all that is said of expressions.
func said(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
	}
	return b.String()
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFunctionExamples checks that every function is described, and that its
// example gives what the reference says.
func TestFunctionExamples(t *testing.T) {
	functions := functions.All()
	var expressions []string
	for _, f := range functions {
		if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") || !strings.Contains(f.Example, f.Name+"(") {
			t.Errorf("%s is not described: %+v", f.Name, f)
		}
		expressions = append(expressions, f.Example, f.Result)
	}
	got, _, diags := inFiles(t, expressions, nil)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", said(diags))
	}
	for i, f := range functions {
		if diff := cmp.Diff(got[2*i+1], got[2*i]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Example, diff)
		}
	}
}

// terraformFunctions are all functions that Terraform 1.13 has.
const terraformFunctions = `
abs abspath alltrue anytrue base64decode base64encode base64gzip base64sha256 base64sha512 basename bcrypt can ceil
chomp chunklist cidrhost cidrnetmask cidrsubnet cidrsubnets coalesce coalescelist compact concat contains csvdecode
dirname distinct element endswith ephemeralasnull file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5
fileset filesha1 filesha256 filesha512 flatten floor format formatdate formatlist indent index issensitive join
jsondecode jsonencode keys length list log lookup lower map matchkeys max md5 merge min nonsensitive one parseint
pathexpand plantimestamp pow range regex regexall replace reverse rsadecrypt sensitive setintersection setproduct
setsubtract setunion sha1 sha256 sha512 signum slice sort split startswith strcontains strrev substr sum templatefile
templatestring textdecodebase64 textencodebase64 timeadd timecmp timestamp title tobool tolist tomap tonumber toset
tostring transpose trim trimprefix trimspace trimsuffix try type upper urlencode uuid uuidv5 values yamldecode
yamlencode zipmap`

// TestFunctionsAreComplete checks that there is each of Terraform's functions, or a
// word about what to do without it.
func TestFunctionsAreComplete(t *testing.T) {
	absent := functions.Absent()
	present := map[string]bool{}
	for _, f := range functions.All() {
		present[f.Name] = true
	}
	for _, name := range strings.Fields(terraformFunctions) {
		if _, explained := absent[name]; explained == present[name] {
			t.Errorf("%s: there: %t, said to be absent: %t", name, present[name], explained)
		}
	}
}

// TestFunctionSemantics checks what Terraform documents of its functions beyond one
// example each: edge cases, conversions, nulls.
func TestFunctionSemantics(t *testing.T) {
	tests := []struct{ expression, want string }{
		{`ceil(-1.5)`, `-1`},
		{`floor(-1.5)`, `-2`},
		{`log(50, 10)`, `1.6989700043360185`},
		{`max([12, 54, 3]...)`, `54`},
		{`parseint("FF", 16)`, `255`},
		{`parseint("-10", 2)`, `-2`},
		{`parseint("aA", 62)`, `656`},
		{`pow(4, 0)`, `1`},
		{`signum(0)`, `0`},

		{`chomp("hello\r\n\r\n")`, `"hello"`},
		{`endswith("hello world", "hello")`, `false`},
		{`endswith("", "")`, `true`},
		{`startswith("hello world", "world")`, `false`},
		{`strcontains("hello world", "WOR")`, `false`},
		{`format("Hello, %s!", "Ander")`, `"Hello, Ander!"`},
		{`format("%% %5d|%-5s|%05.1f", 12, "a", 1.25)`, `"%    12|a    |001.2"`},
		{`format("%v %#v", ["a"], { b = null })`, `"[\"a\"] {\"b\":null}"`},
		{`format("%[2]s %[1]s", "a", "b")`, `"b a"`},
		{`formatlist("%s, %s!", "Salutations", ["A", "B"])`, `["Salutations, A!","Salutations, B!"]`},
		{`indent(0, "a\nb")`, `"a\nb"`},
		{`join("-", ["a"], ["b", "c"])`, `"a-b-c"`},
		{`join(",", [])`, `""`},
		{`regex("[a-z]+", "53453453.345345aaabbbccc23454")`, `"aaabbbccc"`},
		{`regex("^(?:(?P<scheme>[^:/?#]+):)?(?://(?P<authority>[^/?#]*))?", "https://example.org/docs/")`, `{"authority":"example.org","scheme":"https"}`},
		{`regexall("[a-z]+", "123456789")`, `[]`},
		{`length(regexall("[a-z]+", "1234abcd5678efgh9")) > 0`, `true`},
		{`replace("1 + 2 + 3", "+", "-")`, `"1 - 2 - 3"`},
		{`replace("hello", "/(l+)/", "[$1]")`, `"he[ll]o"`},
		{`split(",", "foo")`, `["foo"]`},
		{`split(",", "")`, `[""]`},
		{`strrev("☃")`, `"☃"`},
		{`substr("🤔🤷", 0, 1)`, `"🤔"`},
		{`substr("hello world", -5, -1)`, `"world"`},
		{`substr("hello world", 6, 10)`, `"world"`},
		{`templatestring("%%{for x in l}$${x};%%{endfor}", { l = [1, 2] })`, `"1;2;"`},
		{`trim("foobar", "far")`, `"oob"`},
		{`trim("   hello! world.!  ", "! ")`, `"hello! world."`},
		{`trimprefix("helloworld", "cat")`, `"helloworld"`},
		{`trimsuffix("hellohello", "hello")`, `"hello"`},

		{`alltrue(["true", true])`, `true`},
		{`alltrue([])`, `true`},
		{`alltrue([true, null])`, `false`},
		{`anytrue([])`, `false`},
		{`anytrue([null, "true"])`, `true`},
		{`chunklist(["a", "b"], 0)`, `[["a","b"]]`},
		{`coalesce("", "b")`, `"b"`},
		{`coalesce(["", "b"]...)`, `"b"`},
		{`coalesce(1, "a")`, `"1"`},
		{`coalescelist([["a"], []]...)`, `["a"]`},
		{`concat([], ["a"])`, `["a"]`},
		{`contains(toset(["a"]), "b")`, `false`},
		{`distinct(["b", "a", "b"])`, `["b","a"]`},
		{`element(["a", "b", "c"], 3)`, `"a"`},
		{`element(["a", "b", "c"], -1)`, `"c"`},
		{`flatten([[["a", "b"], []], ["c"]])`, `["a","b","c"]`},
		{`keys({})`, `[]`},
		{`length("👾🕹️")`, `2`},
		{`length("")`, `0`},
		{`length([null])`, `1`},
		{`length(tomap({ a = "x" }))`, `1`},
		{`lookup({ a = null }, "a", "x")`, `null`},
		{`lookup(tomap({ a = "x" }), "b", 2)`, `"2"`},
		{`lookup({ a = "x" }, "a")`, `"x"`},
		{`matchkeys(["i-1", "i-2"], ["us", "eu"], ["asia"])`, `[]`},
		{`merge({ a = "b", c = "d" }, { e = "f", c = "z" })`, `{"a":"b","c":"z","e":"f"}`},
		{`merge(null, { a = 1 })`, `{"a":1}`},
		{`merge([{ a = 1 }, { b = 2 }]...)`, `{"a":1,"b":2}`},
		{`one([])`, `null`},
		{`one(toset(["a"]))`, `"a"`},
		{`one([null])`, `null`},
		{`range(1, 4)`, `[1,2,3]`},
		{`range(4, 1)`, `[4,3,2]`},
		{`range(10, 5, -2)`, `[10,8,6]`},
		{`setproduct(["a"], [])`, `[]`},
		{`slice([1, 2], 1, 1)`, `[]`},
		{`sort(["10", "9", "a"])`, `["10","9","a"]`},
		{`sum([1, "2"])`, `3`},
		{`transpose({})`, `{}`},
		{`transpose({ a = ["1", "2"], b = ["2", "3"] })`, `{"1":["a"],"2":["a","b"],"3":["b"]}`},
		{`values({ a = 3, c = 2, d = 1 })`, `[3,2,1]`},

		{`base64decode("SGVsbG8gV29ybGQ=")`, `"Hello World"`},
		{`base64gunzip(base64gzip("")) == ""`, `true`},
		{`csvdecode("a,b\n\"1,\n2\",3")`, `[{"a":"1,\n2","b":"3"}]`},
		{`jsondecode("true")`, `true`},
		{`jsonencode({ "hello" = "world" })`, `"{\"hello\":\"world\"}"`},
		{`textencodebase64("Hello World", "UTF-16LE")`, `"SABlAGwAbABvACAAVwBvAHIAbABkAA=="`},
		{`textdecodebase64("SABlAGwAbABvACAAVwBvAHIAbABkAA==", "UTF-16LE")`, `"Hello World"`},
		{`textdecodebase64(textencodebase64("é", "ISO-8859-1"), "iso-8859-1")`, `"é"`},
		{`urlencode("foo:bar@localhost?foo=bar&bar=baz")`, `"foo%3Abar%40localhost%3Ffoo%3Dbar%26bar%3Dbaz"`},
		{`urlencode("☃")`, `"%E2%98%83"`},
		{`urldecode("%E2%98%83")`, `"☃"`},
		{`yamldecode("{hello: world}")`, `{"hello":"world"}`},
		{`yamldecode("true")`, `true`},
		{`yamldecode("a: &foo [1, 2, 3]\nb: *foo")`, `{"a":[1,2,3],"b":[1,2,3]}`},
		{`yamldecode("---\n# only one\na: 1\n...\n")`, `{"a":1}`},
		{`yamldecode("--- \na: 1\n---\n# nothing more\n")`, `{"a":1}`},
		{`yamldecodeall("a: 1")`, `[{"a":1}]`},
		{`yamldecodeall("")`, `[]`},
		{`yamldecodeall("--- 1\n--- x\n---\n--- [z]\n")`, `[1,"x",["z"]]`},
		{`yamldecodeall("a: |\n  --- no document\n---\nb: 1\n")`, `[{"a":"--- no document\n"},{"b":1}]`},
		{`yamldecodeall(join("---\n", [yamlencode({ a = 1 }), yamlencode("x")]))`, `[{"a":1},"x"]`},
		{`yamlencode({ a = "b", c = ["d"] })`, `"\"a\": \"b\"\n\"c\":\n- \"d\"\n"`},

		{`abspath("motd.txt") == "${abspath(".")}/motd.txt"`, `true`},
		{`file(abspath("motd.txt"))`, `"Welcome\n"`},
		{`basename("foo/bar/baz.txt")`, `"baz.txt"`},
		{`dirname("baz.txt")`, `"."`},
		{`fileset(".", "*.txt")`, `["motd.txt"]`},
		{`fileset("policy", "*")`, `["nova.yaml"]`},
		{`fileset(".", "policy/**")`, `["policy/nova.yaml","policy/old/nova.yaml"]`},
		{`fileset("nowhere", "*")`, `[]`},
		{`[for name in fileset("policy", "*.{yaml,json}") : yamldecode(file("policy/${name}"))]`, `[{}]`},
		{`filesha256("motd.txt")`, `"0e90e1aa36481e399939d32680dab2005c299f2bb9c3ba6b151ac0cc821fec7a"`},

		{`formatdate("EEEE, DD-MMM-YY hh:mm:ss ZZZ", "2018-01-02T23:12:01Z")`, `"Tuesday, 02-Jan-18 23:12:01 UTC"`},
		{`formatdate("h'h'mm", "2018-01-02T23:12:01-08:00")`, `"23h12"`},
		{`timeadd("2017-11-22T00:00:00Z", "-1h")`, `"2017-11-21T23:00:00Z"`},
		{`timecmp("2017-11-22T01:00:00Z", "2017-11-22T00:00:00Z")`, `1`},
		{`timecmp("2017-11-22T01:00:00Z", "2017-11-22T00:00:00-01:00")`, `0`},

		{`uuidv5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.terraform.io")`, `"a5008fae-b28c-5ba5-96cd-82b4c53552d6"`},

		{`cidrcontains("192.168.2.0/20", "192.168.2.0/22")`, `true`},
		{`cidrcontains("192.168.2.0/20", "192.126.2.0/18")`, `false`},
		{`cidrcontains("10.0.0.0/16", "10.0.0.0/8")`, `false`},
		{`cidrcontains("fe80::/48", "fe80::1")`, `true`},
		{`cidrhost("10.12.112.0/20", 268)`, `"10.12.113.12"`},
		{`cidrhost("10.12.112.0/20", -1)`, `"10.12.127.255"`},
		{`cidrhost("fd00:fd12:3456:7890::/64", 34)`, `"fd00:fd12:3456:7890::22"`},
		{`cidrnetmask("172.16.0.0/12")`, `"255.240.0.0"`},
		{`cidrsubnet("172.16.0.0/12", 4, 2)`, `"172.18.0.0/16"`},
		{`cidrsubnet("fd00:fd12:3456:7890::/56", 16, 162)`, `"fd00:fd12:3456:7800:a200::/72"`},
		{`cidrsubnets("10.1.0.0/16", 4, 4, 8, 4)`, `["10.1.0.0/20","10.1.16.0/20","10.1.32.0/24","10.1.48.0/20"]`},

		{`can({ a = 1 }.a)`, `true`},
		{`can(yamldecode("a: ["))`, `false`},
		{`issensitive("hello")`, `false`},
		{`issensitive([nonsensitive(sensitive("x"))])`, `false`},
		{`tobool(null)`, `null`},
		{`tolist(["a", "b", 3])`, `["a","b","3"]`},
		{`tonumber("2") + 1`, `3`},
		{`toset(["c", "b", "b"])`, `["b","c"]`},
		{`tostring(true)`, `"true"`},
		{`tostring(null)`, `null`},
		{`try({ a = 1 }.b, tonumber("x"), "last")`, `"last"`},
	}
	var expressions []string
	for _, test := range tests {
		expressions = append(expressions, test.expression)
	}
	got, _, diags := inFiles(t, expressions, nil)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", said(diags))
	}
	for i, test := range tests {
		if diff := cmp.Diff(test.want, got[i]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.expression, diff)
		}
	}
}

// TestFunctionRefusals checks what is said where a function has no result.
func TestFunctionRefusals(t *testing.T) {
	for expression, want := range map[string]string{
		`regex("[a-z]+", "1")`:                                "did not match",
		`replace("a", "/(/", "")`:                             "missing closing",
		`sum([])`:                                             "at least one number",
		`sum([1, null])`:                                      "element 1 is null",
		`one([1, 2])`:                                         "there are 2 elements, but at most one is allowed",
		`one("a")`:                                            "a list or set is required",
		`matchkeys(["a"], [], ["a"])`:                         "the number of keys (0) differs from the number of values (1)",
		`transpose({ a = [null] })`:                           `an element of "a" is null`,
		`lookup(tomap({ a = 1 }), "b", "x")`:                  "of the type of the map's values",
		`merge(null, true)`:                                   "the function has no result for these arguments",
		`yamldecode("a: 1\n---\nb: 2")`:                       "the string contains 2 documents; use yamldecodeall",
		`yamldecode("# nothing")`:                             "the string contains no YAML document",
		`yamldecodeall("a: 1\n---\nb: [")`:                    "document 2: ",
		`base64decode("%")`:                                   "illegal base64 data",
		`base64decode("/w==")`:                                "the decoded data is not UTF-8",
		`base64gunzip("YQ==")`:                                "unexpected EOF",
		`urldecode("%zz")`:                                    "invalid URL escape",
		`textencodebase64("a", "utf-99")`:                     `unknown encoding "utf-99"`,
		`textencodebase64("☃", "ISO-8859-1")`:                 "characters that do not exist in this encoding",
		`textdecodebase64("YQ==", "UTF-16LE")`:                "not valid in this encoding",
		`timecmp("now", "2017-11-22T00:00:00Z")`:              "a timestamp such as",
		`cidrcontains("10.0.0.0/8", "::1")`:                   "one address is IPv4 and the other is IPv6",
		`cidrcontains("10.0.0.0/8", "10.0.0.0/99")`:           "an IP address, or a network",
		`cidrnetmask("fe80::/64")`:                            "IPv6 networks have no netmask",
		`filesha1("none.txt")`:                                "no such file",
		`filemd5("policy")`:                                   "not a regular file",
		`fileset(".", "[")`:                                   "syntax error in pattern",
		`templatestring("$${templatestring(\"x\", {})}", {})`: "a template cannot render another template",
		`templatestring("$${timestamp()}", {})`:               "Pass the time in a variable",
		`templatestring("$${uper(\"x\")}", {})`:               `Did you mean "upper"?`,
		`templatestring("$${x", {})`:                          "template:1,1-3: Brace not closed",
		`templatestring("$${x}", {})`:                         `There is no variable named "x"`,
		`templatestring("x", null)`:                           "must not be null",
		`indent(-1, "a")`:                                     "from 0 to 1000",
	} {
		_, _, diags := inFiles(t, []string{expression}, nil)
		if text := said(diags); !strings.Contains(text, want) || strings.Contains(text, "..\n") {
			t.Errorf("%s: want %q in\n%s", expression, want, text)
		}
	}
}

// TestFilesAreInDigest checks that a configuration is another one when what its
// expressions read has changed.
func TestFilesAreInDigest(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	changes := map[string]func(dir string){
		`file("motd.txt")`:                              func(dir string) { write(t, at(dir, "motd.txt"), "Bye\n") },
		`filebase64("motd.txt")`:                        func(dir string) { write(t, at(dir, "motd.txt"), "Bye\n") },
		`filesha256("motd.txt")`:                        func(dir string) { write(t, at(dir, "motd.txt"), "Bye\n") },
		`templatefile("greeting.tmpl", { names = [] })`: func(dir string) { write(t, at(dir, "greeting.tmpl"), "Bye\n") },
		`templatestring(file("motd.txt"), {})`:          func(dir string) { write(t, at(dir, "motd.txt"), "Bye\n") },
		`fileexists("new")`:                             func(dir string) { write(t, at(dir, "new"), "") },
		`try(file("new"), "")`:                          func(dir string) { write(t, at(dir, "new"), "") },
		`fileset("policy", "**")`:                       func(dir string) { write(t, at(dir, "policy/old/keystone.yaml"), "") },
		`length(fileset(".", "*.none"))`:                func(dir string) { write(t, at(dir, "new.none"), "") },
	}
	for expression, change := range changes {
		before, config, diags := inFiles(t, []string{expression}, nil)
		if diags.HasErrors() {
			t.Fatalf("%s: %s", expression, said(diags))
		}
		_, same, _ := inFiles(t, []string{expression}, nil)
		_, changed, _ := inFiles(t, []string{expression}, change)
		if config.Digest != same.Digest {
			t.Errorf("%s (%s): the digest differs each time", expression, before)
		}
		if config.Digest == changed.Digest {
			t.Errorf("%s: the digest does not tell of the change", expression)
		}
	}
}

// TestFileLimits checks that reading ends.
func TestFileLimits(t *testing.T) {
	for _, expression := range []string{`file("huge")`, `filebase64("huge")`, `filesha512("huge")`, `templatefile("huge", {})`} {
		_, _, diags := inFiles(t, []string{expression}, func(dir string) {
			write(t, filepath.Join(dir, "huge"), "")
			if err := os.Truncate(filepath.Join(dir, "huge"), 1<<40); err != nil {
				t.Skip(err)
			}
		})
		if text := said(diags); !strings.Contains(text, "huge: too large: it has more than 16 MiB") {
			t.Errorf("%s: %s", expression, text)
		}
	}
}

// TestHomeDirectory checks that ~ comes from the environment alone: no program is asked for it,
// even where there is no HOME.
func TestHomeDirectory(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	got, _, diags := inFiles(t, []string{`pathexpand("~/.ssh/id")`, `pathexpand("~")`, `pathexpand("a/~")`, `abspath("~/x")`}, nil)
	want := []string{`"/home/dev/.ssh/id"`, `"/home/dev"`, `"a/~"`, `"/home/dev/x"`}
	if !slices.Equal(got, want) || diags.HasErrors() {
		t.Errorf("got %q, want %q\n%s", got, want, said(diags))
	}
	programs := t.TempDir()
	for _, name := range []string{"getent", "sh", "dscl"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n: > "+filepath.Join(programs, "ran")+"\n"), 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("PATH", programs)
	for expression, want := range map[string]string{`pathexpand("~/x")`: "$HOME is not defined", `file("~/x")`: "no such file", `pathexpand("~other/x")`: "~other is the home directory of another user"} {
		if _, _, diags := inFiles(t, []string{expression}, nil); !strings.Contains(said(diags), want) {
			t.Errorf("%s: %s, want %q", expression, said(diags), want)
		}
	}
	if _, err := os.Stat(filepath.Join(programs, "ran")); err == nil {
		t.Error("a program ran")
	}
}

// TestFunctionsAreQuiet checks that no function writes what it is given to the log.
func TestFunctionsAreQuiet(t *testing.T) {
	var logged strings.Builder
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	inFiles(t, []string{`try(base64decode("aHVudGVyMv8="), base64gunzip("aHVudGVyMv8="), urldecode("hunter2%ff"), "")`}, nil)
	if logged.Len() > 0 {
		t.Errorf("the log has %q", logged.String())
	}
}
