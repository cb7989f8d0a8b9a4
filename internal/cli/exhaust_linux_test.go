package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// asProgram is the environment variable that turns the test binary into kolla.
const asProgram = "KOLLA_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Run(context.Background(), append([]string{"kolla"}, os.Args[1:]...), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Limits of kolla in TestExhaustion. The system enforces the first two.
const (
	addressSpace = 3 << 20 // KiB
	processor    = 90      // seconds
	resident     = 1 << 20 // KiB
)

// Values of the maximum size, for the expressions of TestExhaustion.
const (
	text16M = `big = join(format("%9999s", ""), range(1000), range(600))`
	list90k = `long = flatten([for i in range(300) : range(300)])`
	list50k = `loop = flatten([for i in range(50) : range(1000)])`
)

// TestExhaustion tests small configurations that would need more memory or time than a machine has.
// It checks that each is an error, at the line that ends with "# here". A configuration without
// such a line is valid. With KOLLA_TEST_LONG=1, as in make test-all, it tests more configurations.
func TestExhaustion(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	digits := `digits = join("", [for i in range(1000) : join("", [for j in range(100) : "1111111111111111"])])`
	bindings := func(first, next, last string, n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "a = [for x0 in [%s] : ", first)
		for i := range n {
			fmt.Fprintf(&b, "[for x%d in [%s] : ", i+1, strings.ReplaceAll(next, "x", fmt.Sprintf("x%d", i)))
		}
		return b.String() + strings.ReplaceAll(last, "x", fmt.Sprintf("x%d", n)) + strings.Repeat("]", n+1) + " # here"
	}
	twice := func(n int, open, inner, closing string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	tests := map[string][]string{
		// Texts.
		"text doubled":                      {bindings(`"abcdefgh"`, `"${x}${x}"`, `x`, 40)},
		"text repeated":                     {text16M, `a = "` + strings.Repeat("${local.big}", 2000) + `" # here`},
		"text in a loop":                    {text16M, list90k, `a = "%{for x in local.long}${local.big}%{endfor}" # here`},
		"many texts":                        append(repeated(40, `b%d = join(format("%%9999s", ""), range(1000), range(600))`), `c = "" # anywhere`),
		"join":                              {`a = join(format("%9999s", ""), range(1000), range(1000)) # here`},
		"replace":                           {text16M, `a = replace(local.big, " ", local.big) # here`},
		"replace nothing":                   {text16M, `a = replace(local.big, "", "0123456789") # here`},
		"replace by groups":                 {text16M, `a = replace(local.big, "/(a?b?)/", "$1$1$1$1xxxxxxxxxxxxxxxx") # here`},
		"format":                            {text16M, `a = format("` + strings.Repeat("%[1]s", 1000) + `", local.big) # here`},
		"format width":                      {`a = format("%1000000000d", 1) # here`},
		"format star":                       {`a = format("%*d", 1000000000, 1) # here`},
		"format widths":                     {`a = format("` + strings.Repeat("%9999d", 9000) + `"` + strings.Repeat(", 1", 9000) + `) # here`},
		"formatlist":                        {text16M, list90k, `a = formatlist("x%[1]s", local.big, local.long) # here`},
		"indent":                            {text16M, `a = indent(1000, replace(local.big, " ", "\n")) # here`},
		"trim":                              {text16M, `a = trim(local.big, "é${local.big}") # here`},
		"split":                             {text16M, `a = split(" ", local.big) # here`},
		"hashes in a loop":                  {text16M, `a = [for i in range(1000) : sha512(local.big)] # here`},
		"heredoc":                           {"a = <<EOT\n" + strings.Repeat(`${"a"}`, 100_000) + "\nEOT"},
		"heredoc of short lines":            {"a = <<EOT\n" + strings.Repeat("a\n", 390_000) + "EOT\n# anywhere"},
		"escapes":                           {`a = "` + strings.Repeat("$${", 300_000) + `" # anywhere`},
		"escapes and sequences":             {`a = "` + strings.Repeat("a$${b${1}", 50_000) + `" # anywhere`},
		"template of errors":                {`a = [for i in range(1000) : [for j in range(1000) : templatestring("%%{for x in range(1000)}$${x.y}%%{endfor}", {})]] # here`},
		"regular expression of repetitions": {text16M, `a = regexall("(( {1,30}){1,30}){1,30}", local.big) # here`},
		"regular expression, long text":     {text16M, `a = regexall("( + +)+y{1000}", local.big) # here`},
		"regular expression, many matches":  {text16M, `a = regexall("", local.big) # here`},
		"regular expression, many groups":   {text16M, `a = regexall("` + twice(900, "(", "", ")") + `", local.big) # here`},

		// Lists and maps.
		"brackets":             {`a = ` + strings.Repeat("[]", 2_000_000) + ` # anywhere`},
		"attributes of x":      {`a = x` + strings.Repeat(".a", 2_000_000) + ` # anywhere`},
		"splats":               {`a = [1]` + strings.Repeat("[*]", 1_300_000) + ` # anywhere`},
		"labels":               {"}\na" + strings.Repeat(` "a"`, 1_000_000) + " {\n# anywhere"},
		"many locals":          append(repeated(380_000, "a%d = 1"), "# anywhere"),
		"list doubled":         {bindings(`"x"`, `[x, x]`, `x`, 40)},
		"list doubled, equal":  {bindings(`"x"`, `[x, x]`, `x == x`, 40)},
		"list doubled, chosen": {bindings(`"x"`, `[x, x]`, `true ? x : [x]`, 40)},
		"setproduct":           {`a = setproduct(range(1000), range(1000), range(1000)) # here`},
		"concat of lists":      {list90k, `a = concat([for x in local.long : tolist([x])]...) # here`},
		"coalesce":             {list90k, `a = coalesce(local.long, []) # here`},
		"setproduct, long":     {list50k, `a = setproduct(local.loop, ["a"]) # here`},
		"flatten":              {list90k, `a = flatten([` + strings.Repeat("local.long, ", 1000) + `]) # here`},
		"jsonencode":           {list90k, `a = jsonencode([` + strings.Repeat("local.long, ", 1000) + `]) # here`},
		"distinct":             {list90k, `a = distinct([for i, x in local.long : i]) # here`},
		"distinct texts":       {list90k, `a = length(distinct([for i, x in local.long : "n${i}"]))`},
		"setunion":             {list90k, `a = setunion([for i, x in local.long : i], [-1]) # here`},
		"one type of many":     {list90k, `a = length(tolist(local.long))`},
		"one type of mixed":    {list90k, `a = length(tolist([for i, x in local.long : i % 2 == 0 ? "a" : "${i}"]))`, `b = length(tolist(concat(local.long, ["a"])))`},
		"no type of objects":   {`a = tolist([for i in range(300) : { for j in range(300) : "k${i}_${j}" => j }]) # here`},
		"type of a condition":  {list90k, `a = true ? local.long : [] # here`},
		"many branches":        {list50k, `a = ` + strings.Repeat("false ? [1] : ", 1000) + `local.loop # here`},
		"loops of errors":      {list50k, `a = [for x in local.loop : [for y in local.loop : [for z in local.loop : z.q]]] # here`},
		"loops that try":       {list50k, `a = [for x in local.loop : try([for y in local.loop : try([for z in local.loop : z.q], 1)], 1)] # here`},
		"unknown function":     {`a = [for i in range(1000) : [for j in range(1000) : nothing(i)]] # here`},

		"union of many sets": {`s = toset([for i in range(1000) : [for j in range(15) : "${i}.${j}"]][*][0])`, `a = setunion(local.s, [for i in flatten([for j in range(7) : range(1000)]) : ["x"]]...) # here`},

		// Errors.
		"unknown references":  append(repeated(2000, "abcdefghijklmnop%d = 1"), "a = ["+strings.Join(repeated(5000, "local.abcdefghijklmnox%d"), ", ")+"] # here"),
		"unknown attributes":  {"m = {\n" + strings.Join(repeated(1000, "k%d = 1"), "\n") + "\n}", "a = [" + strings.Join(repeated(8000, "local.m.x%d"), ", ") + "] # here"},
		"wrong operands":      append(repeated(20_000, `a%d = 1 + "x"`), `b = "" # anywhere`),
		"one name many times": {"a = 1 # anywhere\n" + strings.Repeat("a = 1\n", 100_000)},
		"tries":               {"a = [" + strings.Join(repeated(10_000, "try(service.s%d.host, 1)"), ", ") + "]"},
		"long names":          {strings.Repeat("ab", 100_000) + " = 1", "a = local." + strings.Repeat("ac", 100_000) + " # here"},
		"agents on one node": {"a = 1 # anywhere\n}\nrole \"all\" {\n  nodes = [\"a\"]\n}\ndefinition \"d\" {\n  workload \"w\" {\n    kind  = \"DaemonSet\"\n    image = \"own\"\n    role  = role.all\n  }\n}\n" +
			"service \"d\" {\n  count = 3000\n}\nlocals {"},

		// Numbers.
		"number squared":     {bindings(`1e999`, `x * x`, `"${x}"`, 25)},
		"remainder":          {bindings(`1e999`, `x * x`, `x % 7`, 25)},
		"product":            {`a = "${` + strings.TrimSuffix(strings.Repeat("1e999 * ", 9000), " * ") + `}" # here`},
		"exponent":           {`a = tonumber("1e999999999") # here`},
		"exponent of JSON":   {`a = jsondecode("[1e999999999]") # here`},
		"digits":             {digits, `a = local.digits # anywhere`},
		"digits of a number": {`a = tonumber(join("", [for i in range(1000) : "1111111111111111"])) # here`},
		"parseint":           {`a = parseint(format("z%9999s", join("", [for i in range(1000) : "zzzzzzzzzz"])), 36) # here`},
		"range":              {`a = range(tonumber("1e9")) # here`},
		"networks":           {list90k, `a = cidrsubnets("fd00::/8", [for x in local.long : 100]...) # here`},
		"newbits":            {`a = cidrsubnet("10.0.0.0/8", 1000000000, 1) # here`},
		"duration":           {`a = timeadd("2026-11-22T00:00:00Z", "999999999999999h") # here`},

		// Encodings.
		"JSON, nested":   {`a = jsondecode(join("", [for i in range(90) : join("", [for j in range(1000) : "["])])) # here`},
		"YAML, nested":   {`a = yamldecode(join("", [for i in range(90) : join("", [for j in range(1000) : "["])])) # here`},
		"YAML, aliases":  {`a = yamldecode("a: &a [x,x,x,x,x,x,x,x,x]\n` + aliases("abcdefghi") + `") # here`},
		"gzip in a loop": {text16M, `z = base64gzip(local.big)`, `a = [for i in range(1000) : length(base64gunzip(local.z))] # here`},

		// Files.
		"file in a loop":        {`a = [for i in range(1000) : [for j in range(1000) : filesha256("large.bin")]] # here`},
		"fileset of stars":      {`a = fileset("many", "*a*a*a*a*a*a*a*a*a*b")`},
		"fileset of braces":     {`a = fileset("many", "` + strings.Repeat("{a,a}", 20) + `b") # here`},
		"file of the kernel":    {`a = file("/proc/self/status") # here`},
		"file of a driver":      {`a = filebase64("/sys/kernel/mm/transparent_hugepage/enabled") # here`},
		"link to the kernel":    {`a = file("kernel") # here`},
		"template there":        {`a = templatefile("/proc/self/status", {}) # here`},
		"fileset there":         {`a = fileset("/proc/self", "**") # here`},
		"hash of a device":      {`a = filesha256("/dev/zero") # here`},
		"hash of a named pipe":  {`a = filesha256("pipe") # here`},
		"file that is too long": {`a = filebase64("larger.bin") # here`},
	}
	// Each of these takes several seconds of a processor.
	long := map[string][]string{
		"long heredoc":             {"a = <<EOT\n" + strings.Repeat(strings.Repeat("a", 53)+"\n", 18_000) + "EOT"},
		"escapes in a template":    {`a = templatestring(join("", [for i in range(1000) : join("", [for j in range(300) : "$$${"])]), {}) # here`},
		"sequences":                {`a = "` + strings.Repeat("${1}", 1_000_000) + `" # anywhere`},
		"sequences that fit":       {`a = "x` + strings.Repeat("${1}", 240_000) + `"`},
		"template in a loop":       {`a = [for i in range(1000) : [for j in range(1000) : templatestring("%{for x in range(1000)}$${x}%{endfor}", {})]] # here`},
		"regular expression, long": {`p = join("|", [for i in range(1000) : join("|", [for j in range(100) : "a${i}b${j}"])])`, `a = regex(local.p, "abc") # here`},
		"many locals that fit":     repeated(240_000, "a%d=1"),
		"comments":                 {strings.Repeat("/**/", 1_000_000) + "# anywhere"},
		"document of JSON":         {`a = yamldecodeall(join("", [for i in range(800) : join("", [for j in range(600) : "{}"])])) # here`},
		"concat":                   {list90k, `a = concat(` + strings.TrimSuffix(strings.Repeat("local.long, ", 100), ", ") + `) # here`},
		"matchkeys":                {list90k, `a = matchkeys(local.long, local.long, [for i, x in local.long : i]) # here`},
		"merge in a loop":          {list50k, `m = { for i, x in local.loop : i => x }`, `a = [for i in range(1000) : length(merge(local.m, { a = i }))] # here`},
		"loops":                    {list50k, `a = [for x in local.loop : [for y in local.loop : [for z in local.loop : 1]]] # here`},
		"loops of nothing":         {list50k, `a = [for x in local.loop : [for y in local.loop : [for z in local.loop : z if false] if false]] # here`},
		"loops of maps":            {list50k, `a = { for i, x in local.loop : i => { for j, y in local.loop : j => { for k, z in local.loop : k => 1 } } } # here`},
		"loops of comparisons":     {list50k, `a = [for x in local.loop : local.loop == local.loop] # here`},
		"loops of sets":            {`s = toset([for j in range(15) : "${j}"])`, `b = toset([for i in range(1000) : "${i}"])`, `a = [for i in range(1000) : [for j in range(1000) : length(setunion(local.s, local.b))]] # here`},
		"unknown names":            append(repeated(6000, "a%[1]d = local.x%[1]d"), `b = "" # anywhere`),
		"unknown blocks":           {"a = 1 # anywhere\n}\n" + strings.Repeat("x {}\n", 100_000) + "locals {"},
		"one service for many":     {"a = 1 # anywhere\n}\n" + strings.Repeat("service \"memcached\" {}\n", 50_000) + "locals {"},
		"JSON":                     {`a = jsondecode("[${join(",", [for i in range(1000) : join(",", [for j in range(1000) : "[1]"])])}]") # here`},
		"YAML":                     {`a = yamldecode(join("", [for i in range(1000) : join("", [for j in range(1000) : "- 1\n"])])) # here`},
		"CSV":                      {`a = csvdecode("a\n${join("\n", [for i in range(1000) : join("\n", [for j in range(1000) : "c"])])}") # here`},
		"CSV, columns":             {`a = csvdecode(join(",", [for i in range(1000) : join(",", [for j in range(1000) : "c${i}_${j}"])])) # here`},
		"fileset in a loop":        {`a = [for i in range(1000) : [for j in range(1000) : fileset("many", "**")]] # here`},
	}
	if os.Getenv("KOLLA_TEST_LONG") != "" {
		maps.Copy(tests, long)
	}
	dir := t.TempDir()
	if err := makeFiles(dir); err != nil {
		t.Fatal(err)
	}
	for name, locals := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exhaust(t, dir, strings.Join(locals, "\n  "))
		})
	}
}

func repeated(n int, format string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

// aliases returns YAML anchors. Each refers nine times to the one before.
func aliases(names string) string {
	var b strings.Builder
	for i := 1; i < len(names); i++ {
		fmt.Fprintf(&b, `%[1]c: &%[1]c [%[2]s]\n`, names[i], strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", names[i-1]), 9), ","))
	}
	return b.String()
}

// makeFiles creates the files that the expressions of TestExhaustion read.
func makeFiles(dir string) error {
	in := func(name string) string { return filepath.Join(dir, name) }
	errs := []error{
		os.WriteFile(in("large.bin"), make([]byte, 15<<20), 0o600),
		os.WriteFile(in("larger.bin"), make([]byte, 17<<20), 0o600),
		os.Symlink("/proc/self/status", in("kernel")),
		syscall.Mkfifo(in("pipe"), 0o600),
		os.Mkdir(in("many"), 0o700),
	}
	errs = append(errs, os.WriteFile(in("many/"+strings.Repeat("a", 200)), nil, 0o600))
	for i := range 1000 {
		errs = append(errs, os.WriteFile(in(fmt.Sprintf("many/%d", i)), nil, 0o600))
	}
	return errors.Join(errs...)
}

// exhaust validates a configuration with local values in a separate process.
func exhaust(t *testing.T, files, locals string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"large.bin", "larger.bin", "kernel", "pipe", "many"} {
		if err := os.Symlink(filepath.Join(files, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	source := "cloud \"test\" {\n  release = \"2025.1\"\n}\nlocals {\n  " + locals + "\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	limits := fmt.Sprintf(`ulimit -v %d && ulimit -t %d && exec "$0" validate`, addressSpace, processor)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh", "-c", limits, program)
	c.Dir, c.Env = dir, append(os.Environ(), asProgram+"=1")
	out, err := c.CombinedOutput()
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("%s of the processor, %d MiB", c.ProcessState.UserTime()+c.ProcessState.SystemTime(), usage.Maxrss>>10)
	if usage.Maxrss > resident {
		t.Errorf("it takes %d MiB", usage.Maxrss>>10)
	}
	before, _, wrong := strings.Cut(source, "# here")
	switch {
	case strings.Contains(source, "# anywhere"):
		before, wrong = "", true
	case !wrong && err != nil:
		t.Fatalf("%v\n%.2000s", err, out)
	}
	if !wrong {
		return
	}
	want := "on cloud.hcl line "
	if before != "" {
		want += fmt.Sprintf("%d,", 1+strings.Count(before, "\n"))
	}
	if c.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte(want)) || !bytes.HasPrefix(bytes.TrimSpace(out), []byte("Error: ")) {
		t.Errorf("exit code %d, want an error %s\n%.2000s", c.ProcessState.ExitCode(), want, out)
	}
}
