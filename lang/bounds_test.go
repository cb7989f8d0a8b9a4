package lang_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
)

// TestBounds checks that what would exhaust the memory or the stack is an error, which
// is compared with the golden files. What is generated is after the start of cloud.hcl,
// unless it begins with the name of a file.
func TestBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const root = "testdata/bounds"
	deep := func(open, inner, closing string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	tests := map[string]string{
		"parentheses":     "locals {\n  a = " + deep("(", "1", ")", 300_000) + "\n}\n",
		"unclosed":        "locals {\n  a = " + strings.Repeat("[", 300_000),
		"objects":         "locals {\n  a = " + deep("{ a = ", "1", " }", 600) + "\n}\n",
		"blocks":          deep("a {\n", "", "}\n", 600),
		"quotes":          "locals {\n  a = " + deep(`"${`, "1", `}"`, 300) + "\n}\n",
		"conditions":      "locals {\n  a = \"" + deep("%{ if true }", "1", "%{ endif }", 600) + "\"\n}\n",
		"operators":       "locals {\n  a = 1" + strings.Repeat(" + 1", 10_001) + "\n}\n",
		"operators_lines": "locals {\n  a = { for k in [1] : k => 1" + strings.Repeat(" +\n1", 10_001) + "\n}\n}\n",
		"negations":       "locals {\n  a = " + strings.Repeat("!", 10_001) + "true\n}\n",
		"indexes":         "locals {\n  a = [1]" + strings.Repeat("[0]", 10_001) + "\n}\n",
		"digits_of_text":  "locals {\n  a = \"" + strings.Repeat("1", 10_001) + "\" * 1\n}\n",
		"elements":        "locals {\n  a = [" + strings.Repeat("1,", 400_001) + "]\n}\n",
		"tokens":          "locals {\n  a = " + strings.Repeat("[]", 1_000_000) + "\n}\n",
		"heredoc":         "locals {\n  a = <<EOT\n" + strings.Repeat("a\n", 80_000) + "EOT\n}\n",
		"escapes":         "locals {\n  a = \"" + strings.Repeat("$${", 100_000) + "\"\n}\n",
		"exponent":        "locals {\n  a = \"${1e600000000}\"\n}\n",
		"digits":          "locals {\n  a = 1" + strings.Repeat("0", 1000) + "\n}\n",
		"json":            "x.hcl.json:" + `{"locals": {"a": ` + deep("[", "1", "]", 300_000) + "}}",
		"json_exponent":   "x.hcl.json:" + `{"locals": {"a": 1E+600000000}}`,
		"json_template":   "x.hcl.json:" + `{"locals": {"a": "${` + deep("(", "1", ")", 300_000) + `}"}}`,
		"json_tokens":     "x.hcl.json:" + `{"locals": {"a": [` + strings.Repeat("{},", 400_000) + "1]}}",
		"json_keys":       "x.hcl.json:" + `{"locals": {` + strings.Repeat(`"a":1,`, 300_000) + `"a":1}}`,
		"json_escapes":    "x.hcl.json:" + `{"locals": {"a": "` + strings.Repeat("$${", 100_000) + `"}}`,
		"template":        "t.tmpl:${" + deep("(", "1", ")", 300_000) + "}",
		"size":            "x.hcl:" + strings.Repeat("# nothing\n", 5<<20/10),
		"bytes":           "x.hcl:a = \"b\"\n# f\xfcr\n",
		"binary":          "x.hcl:\x7fELF\x02\x00" + strings.Repeat("\x00}\xff\n", 100_000),
		"values_size":     "kolla.vars.hcl:" + strings.Repeat("# nothing\n", 5<<20/10),
		"many_errors":     "x.hcl:" + strings.Repeat("a = 1\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\ng = 1\nh = 1\n", 501),
		"text_doubled":    doubled(`"x"`, `"${local.%[2]s}${local.%[2]s}"`, 30),
		"list_doubled":    doubled(`["x"]`, `[local.%[2]s, local.%[2]s]`, 30),
		"number_squared":  doubled(`1e300`, `local.%[2]s * local.%[2]s`, 30),
		"list_nested":     doubled(`1`, `[local.%[2]s]`, 600),
		"join":            "locals {\n  a = join(format(\"%9999s\", \"\"), range(1000), range(1000))\n}\n",
		"join_fits":       "locals {\n  a = join(format(\"%9999s\", \"\"), range(500), range(500))\n}\n",
		"replace":         "locals {\n  a = format(\"%9999s\", \"\")\n  b = replace(local.a, \" \", local.a)\n  c = replace(local.a, \"/ /\", local.a)\n}\n",
		"format":          "locals {\n  a = format(\"%9999s\", \"\")\n  b = join(local.a, range(1000))\n  c = format(\"%s%s%s\", local.b, local.b, local.b)\n}\n",
		"texts":           doubled(`join(format("%9999s", ""), range(1000), range(600))`, `"${local.%[2]s} "`, 10),
		"loops":           "locals {\n  a = flatten([for i in range(50) : range(1000)])\n  b = [for x in local.a : [for y in local.a : [for z in local.a : z.q]]]\n}\n",
		"loop":            "locals {\n  a = [for i in range(1000) : i.q]\n}\n",
		"branches":        "locals {\n  a = flatten([for i in range(50) : range(1000)])\n  b = true ? local.a : []\n}\n",
		"indent":          "locals {\n  a = indent(1e9, \"a\\nb\")\n}\n",
		"range":           "locals {\n  a = range(1e9)\n}\n",
		"count":           "role \"r\" {\n  count = 10001\n  nodes = [\"n\"]\n  name  = \"r${count.index}\"\n}\n",
		"instances":       "role \"r\" {\n  count = 9999\n  nodes = [\"n\"]\n  name  = \"r${count.index}\"\n}\nrole \"s\" {\n  count = 2\n  nodes = [\"n\"]\n  name  = \"s${count.index}\"\n}\nrole \"last\" {\n  nodes = [\"n\"]\n}\n",
		"dynamic":         "variable \"v\" {\n  default = 1\n  dynamic \"validation\" {\n    for_each = setproduct(range(200), range(120))\n    content {\n      condition     = true\n      error_message = \"It is.\"\n    }\n  }\n}\n",
		"no_file":         "x.hcl/:",
	}
	for name, source := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, source string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cloud := "cloud \"test\" {\n  release = \"2025.1\"\n}\n"
			file, rest, named := strings.Cut(source, ":")
			switch {
			case !named || strings.ContainsAny(file, " \n"):
				cloud += source
			case strings.HasSuffix(file, "/"):
				if err := syscall.Mkfifo(filepath.Join(dir, "x.hcl"), 0o600); err != nil {
					t.Fatal(err)
				}
			default:
				write(file, rest)
			}
			if file == "t.tmpl" {
				cloud += "locals {\n  a = templatefile(\"t.tmpl\", {})\n}\n"
			}
			write("cloud.hcl", cloud)
			config, diags := lang.Load(dir, lang.Options{})
			checkPlaces(t, diags, config.Files)
			got := bytes.ReplaceAll(render(diags, dir), []byte(dir), []byte("."))
			golden.Compare(t, filepath.Join(root, name+".txt"), got)
			if len(got) > 4000 {
				t.Errorf("%d bytes of diagnostics", len(got))
			}
		})
	}
	tests["modules"], tests["module_uses"] = "", ""
	for _, name := range cases(t, root) {
		if _, ok := tests[strings.TrimSuffix(name, ".txt")]; !ok {
			t.Errorf("%s belongs to no case", name)
		}
	}
}

// doubled are local values, each made of the one before.
func doubled(first, next string, times int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "locals {\n  a0 = %s\n", first)
	for i := range times {
		fmt.Fprintf(&b, "  a%d = "+next+"\n", i+1, fmt.Sprintf("a%d", i))
	}
	return b.String() + "}\n"
}

// TestModuleBounds checks that modules cannot multiply without end.
func TestModuleBounds(t *testing.T) {
	dir := t.TempDir()
	write := func(name, source string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cloud.hcl", "cloud \"test\" {\n  release = \"2025.1\"\n}\nmodule \"a\" {\n  source = \"./m0\"\n}\n")
	for i := range 30 {
		next := fmt.Sprintf("{\n  source = \"../m%d\"\n}\n", i+1)
		write(fmt.Sprintf("m%d/main.hcl", i), "module \"a\" "+next+"module \"b\" "+next)
	}
	write("m30/main.hcl", "")
	_, diags := lang.Load(dir, lang.Options{})
	golden.Compare(t, "testdata/bounds/modules.txt", render(diags, dir))

	write("cloud.hcl", "cloud \"test\" {\n  release = \"2025.1\"\n}\nmodule \"a\" {\n  source = \"./m29\"\n  count  = 200\n}\n")
	write("m29/main.hcl", "module \"a\" {\n  source = \"../m30\"\n  count  = 200\n}\n")
	_, diags = lang.Load(dir, lang.Options{})
	golden.Compare(t, "testdata/bounds/module_uses.txt", render(diags, dir))
}
