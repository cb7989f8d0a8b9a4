package addrs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/addrs"
)

func TestParseTarget(t *testing.T) {
	tests := map[string]string{ // empty: it is none
		"service.redis":                         "service.redis",
		`service.redis["cache"]`:                `service.redis["cache"]`,
		`service.redis[ "cache" ]`:              `service.redis["cache"]`,
		"service.redis[0]":                      "service.redis[0]",
		`module.a["x"].module.b[1]`:             `module.a["x"].module.b[1]`,
		`module.a.service.redis["a.b/c"]`:       `module.a.service.redis["a.b/c"]`,
		"service.redis/Secret/redis-a":          "service.redis/Secret/redis-a",
		`service.redis["a/b"]/Secret/ns/x`:      `service.redis["a/b"]/Secret/ns/x`,
		`module.a.role.b["c"]/Node/d`:           `module.a.role.b["c"]/Node/d`,
		"service":                               "",
		"service.redis.":                        "",
		"service.redis[cache]":                  "",
		"service.redis.name":                    "",
		"service.redis/Secret":                  "",
		"service.redis.service.b/Secret/a":      "",
		`service.redis[cache]/Secret/a`:         "",
		"service.redis[*]":                      "",
		`module.a.service.redis["x"]["y"]`:      "",
		"service.redis/Secret/redis-a/b/c/d/e/": "",
	}
	for text, want := range tests {
		got, err := addrs.ParseTarget(text)
		switch {
		case (err != nil) != (want == ""):
			t.Errorf("%s: %v", text, err)
		case err == nil && got.String() != want:
			t.Errorf("%s becomes %s", text, got)
		}
	}
	_, err := addrs.ParseTarget("service.redis[cache]")
	if err == nil || !strings.Contains(err.Error(), `Write 'service.redis["cache"]'`) {
		t.Errorf("without quotes: %v", err)
	}
}

func TestSplitBlock(t *testing.T) {
	tests := map[string]addrs.Block{
		"service.redis":                       {Type: "service", Name: "redis"},
		`service.redis["a.b"]`:                {Type: "service", Name: "redis", Key: "a.b"},
		"manifest.x[3]":                       {Type: "manifest", Name: "x", Key: 3},
		`module.a["x"].module.b.service.c[0]`: {Module: `module.a["x"].module.b`, Type: "service", Name: "c", Key: 0},
		"nothing":                             {},
	}
	for block, want := range tests {
		if diff := cmp.Diff(want, addrs.SplitBlock(block)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", block, diff)
		}
	}
	want := []string{`module.a["x"]`, `module.a["x"].module.b`}
	if got := addrs.Modules(`module.a["x"].module.b`); !slices.Equal(got, want) {
		t.Errorf("modules are %q", got)
	}
	if got := addrs.SplitBlock(`module.a["x"].service.c["y"]`).All(); got != `module.a["x"].service.c` {
		t.Errorf("all instances are %s", got)
	}
}

// Terraform's meanings of moves.
func TestMove(t *testing.T) {
	tests := []struct{ from, to, address, want string }{
		{"service.redis", `service.redis["cache"]`, "service.redis/Secret/a", `service.redis["cache"]/Secret/a`},
		{"service.redis", `service.redis["cache"]`, `service.redis["other"]/Secret/a`, ""},
		{"service.redis", `service.redis["cache"]`, "service.redis2/Secret/a", ""},
		{`service.redis["a"]`, `service.redis["b"]`, `service.redis["a"]/Secret/a`, `service.redis["b"]/Secret/a`},
		{`service.redis["a"]`, `service.redis["b"]`, `service.redis["ab"]/Secret/a`, ""},
		{"service.redis[1]", `service.redis["b"]`, "service.redis[1]/Secret/a", `service.redis["b"]/Secret/a`},
		{"service.redis[1]", `service.redis["b"]`, "service.redis[10]/Secret/a", ""},
		{`service.redis["a"]`, "service.redis", `service.redis["a"]/Secret/a`, "service.redis/Secret/a"},
		{"service.redis", "service.cache", `service.redis["x"]/Secret/a`, `service.cache["x"]/Secret/a`},
		{"service.redis", "module.m.service.redis", `service.redis[0]/Secret/a`, `module.m.service.redis[0]/Secret/a`},
		{"module.a", "module.b", `module.a["x"].service.s["y"]/Secret/a`, `module.b["x"].service.s["y"]/Secret/a`},
		{"module.a", `module.a["x"]`, "module.a.service.s/Secret/a", `module.a["x"].service.s/Secret/a`},
		{"module.a", `module.a["x"]`, `module.a["z"].service.s/Secret/a`, ""},
		{"manifest.a/ConfigMap/x", "manifest.b/ConfigMap/x", "manifest.a/ConfigMap/x", "manifest.b/ConfigMap/x"},
		{"manifest.a/ConfigMap/x", "manifest.b/ConfigMap/x", "manifest.a/ConfigMap/y", ""},
	}
	for _, test := range tests {
		m := addrs.Move{From: mustTarget(t, test.from), To: mustTarget(t, test.to)}
		at, err := addrs.ParseObject(test.address)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := m.Apply(at)
		if ok != (test.want != "") || ok && got.String() != test.want {
			t.Errorf("%s → %s makes %s of %s (%v), want %q", test.from, test.to, got, test.address, ok, test.want)
		}
	}
}

func mustTarget(t *testing.T, text string) addrs.Target {
	t.Helper()
	target, err := addrs.ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func FuzzParseTarget(f *testing.F) {
	for _, text := range []string{"service.a", `module.a["x"].service.b[0]/Secret/c`, "service.a[b]", `service.a["${"]`, "a.b[1.5]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := addrs.ParseTarget(text)
		if err != nil {
			return
		}
		again, err := addrs.ParseTarget(target.String())
		if err != nil || again.String() != target.String() {
			t.Errorf("%q becomes %q, and that %q (%v)", text, target, again, err)
		}
		addrs.SplitBlock(target.Block)
	})
}
