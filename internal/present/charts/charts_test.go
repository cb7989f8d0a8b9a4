package charts

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/configs"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		content, format string
		ok              bool
	}{
		"sections":          {"[DEFAULT]\na = 1\n\n[Z]\nb = 2\n\n[a]\nc = x = y\nd = \n", "ini", true},
		"repeated":          {"[DEFAULT]\na = 1\na = 2\na = 3\n", "ini", true},
		"only a section":    {"[z]\na = 1\n", "ini", true},
		"properties":        {"a = 1\nb = 2\n", "properties", true},
		"wrong order":       {"[b]\na = 1\n\n[a]\na = 1\n", "ini", false},
		"DEFAULT is later":  {"[A]\na = 1\n\n[DEFAULT]\na = 1\n", "ini", false},
		"comment":           {"# by hand\n[a]\na = 1\n", "ini", false},
		"continued":         {"[a]\na = 1\n  2\n", "ini", false},
		"without a section": {"a = 1\n", "ini", false},
		"other spaces":      {"[a]\na=1\n", "ini", false},
		"empty":             {"", "ini", false},
	}
	for name, c := range cases {
		if _, ok := parse(c.content, c.format); ok != c.ok {
			t.Errorf("%s: parsed %v, want %v", name, ok, c.ok)
		}
	}
}

func TestPublic(t *testing.T) {
	config := &configs.Config{Exposures: []configs.Exposure{
		{Name: "public", VIP: "192.0.2.10", FQDN: "cloud.example.org"}, {Name: "six", VIP: "2001:db8::1", Domain: "six.example.org"}, {Name: "plain", FQDN: "cloud"},
	}}
	for text, want := range map[string]string{
		"192.0.2.10":                       "<vip>",
		"http://192.0.2.10:5000/v3":        "http://<vip>:5000/v3",
		"192.0.2.10,192.0.2.10":            "<vip>,<vip>",
		"tcp:192.0.2.10:6640":              "tcp:<vip>:6640",
		"192.0.2.10/32":                    "<vip>/32",
		"It is 192.0.2.10.":                "It is <vip>.",
		"192.0.2.100 1192.0.2.10":          "192.0.2.100 1192.0.2.10",
		"1.192.0.2.10 192.0.2.10.1":        "1.192.0.2.10 192.0.2.10.1",
		"http://[2001:db8::1]:80/":         "http://[<vip>]:80/",
		"2001:db8::1 2001:db8::10":         "<vip> 2001:db8::10",
		"https://cloud.example.org:8774/":  "https://<fqdn>:8774/",
		"my.cloud.example.org":             "my.cloud.example.org",
		"cloud.example.org.uk":             "cloud.example.org.uk",
		"keystone.six.example.org and six": "keystone.<domain> and six",
		"a cloud":                          "a cloud",
	} {
		got := text
		for _, p := range publicOf(config) {
			got = p.replace(got, func() string { return "<" + p.key + ">" })
		}
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestRef(t *testing.T) {
	for want, path := range map[string][]string{
		".Values.workloads.api.replicas":                        {"workloads", "api", "replicas"},
		"(index .Values.jobs \"db-sync\").resources.main":       {"jobs", "db-sync", "resources", "main"},
		"(index (index .Values.config \"a.conf\") \"b-c\").d":   {"config", "a.conf", "b-c", "d"},
		"(index .Values.global.secrets \"checksum-key.cloud\")": {"global", "secrets", "checksum-key.cloud"},
	} {
		if got := ref(path...); got != want {
			t.Errorf("%v is %s, want %s", path, got, want)
		}
	}
}

// TestExpand checks the lines that replace a field at different depths.
func TestExpand(t *testing.T) {
	tmpl := &template{built: &built{chart: &chart{}}}
	manifest := map[string]any{"spec": map[string]any{
		"empty": tmpl.optional(".Values.a"),
		"items": []any{tmpl.line("{{- with include \"b\" . }}", "  {{- . | nindent DEEPER }}", "{{- end }}"), map[string]any{"name": "c"}},
		"text":  "a {{ b }} " + tmpl.action(".Values.d"),
	}}
	want := `spec:
  {{- with .Values.a }}
  empty:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  items:
  {{- with include "b" . }}
  {{- . | nindent 2 }}
  {{- end }}
  - name: c
  text: a {{ "{{" }} b }} {{ .Values.d }}
`
	if got := tmpl.yaml(manifest); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestValuesText(t *testing.T) {
	v := newValues()
	v.comment = "All values."
	v.leaf(int64(3), count, "workloads", "api", "replicas")
	v.leaf(map[string]any{}, quantities, "workloads", "api", "resources")
	v.leaf("2", word, "workloads", "true")
	v.note("Pods.", "workloads")
	want := "# All values.\n\n# Pods.\nworkloads:\n  api:\n    replicas: 3\n    resources: {}\n  \"true\": \"2\"\n"
	if got := v.text(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	s := v.jsonSchema()["properties"].(schema)["workloads"].(schema)
	if s["additionalProperties"] != false || s["properties"].(schema)["true"].(schema)["type"] != "string" {
		t.Errorf("the schema is %v", s)
	}
}

// TestNoWordOfATemplateStays checks that the named templates have no marks that Export replaces.
func TestNoWordOfATemplateStays(t *testing.T) {
	b := &built{chart: &chart{name: "keystone"}, cloud: &cloud{Input: Input{Config: &configs.Config{Cloud: configs.Cloud{Name: "c", Namespace: "n"}}}}}
	if text := b.library(); strings.Contains(text, "@CHECKSUM@") || strings.Contains(text, "@NAMESPACE@") || strings.Contains(text, "@PROGRAM@") {
		t.Error("a mark is left")
	}
}
