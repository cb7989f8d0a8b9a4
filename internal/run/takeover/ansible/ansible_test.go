package ansible_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/run/takeover/ansible"
)

// show returns diagnostics as LINE: SUMMARY.
func show(diags hcl.Diagnostics) []string {
	var out []string
	for _, d := range diags {
		out = append(out, fmt.Sprintf("%d: %s", d.Subject.Start.Line, d.Summary))
	}
	return out
}

func TestReadInventory(t *testing.T) {
	for _, test := range []struct {
		name, file, source string
		groups             map[string]string // members, by group
		vars               map[string]string // variables of a host as NAME=VALUE, by host
		wrong              []string
	}{
		{
			name: "ini", file: "multinode",
			source: "; hosts\n[control]\nctl[01:03]  ansible_user=kolla\n\n[compute]\ncmp-[a:b].example.org:2222 tunnel_interface=eth2 note=\"a # b\" # the first\ncmp-9\n" +
				"[all:vars]\nnetwork_interface = 'eth0'\n[compute:vars]\nnetwork_interface=bond0\n[nodes:children]\ncontrol # all\ncompute\n",
			groups: map[string]string{"control": "ctl01 ctl02 ctl03", "nodes": "ctl01 ctl02 ctl03 cmp-a.example.org cmp-b.example.org cmp-9"},
			vars: map[string]string{
				"ctl02":             "ansible_user=kolla network_interface=eth0",
				"cmp-b.example.org": "network_interface=bond0 note=a # b tunnel_interface=eth2",
			},
		},
		{
			name: "yaml", file: "hosts.yml",
			source: "all:\n  vars:\n    network_interface: eth0\n  children:\n    control:\n      hosts:\n        ctl[1:2]:\n          api_interface: eth1\n    nodes:\n      children:\n        control:\n",
			groups: map[string]string{"control": "ctl1 ctl2", "nodes": "ctl1 ctl2"},
			vars:   map[string]string{"ctl1": "api_interface=eth1 network_interface=eth0"},
		},
		{name: "a step", file: "i", source: "[a]\nn[0:6:3]x[1:2]\n", groups: map[string]string{"a": "n0x1 n0x2 n3x1 n3x2 n6x1 n6x2"}},
		{name: "a host twice", file: "i", source: "[a]\nn1\nn[0:2]\n[b]\nn1\n", wrong: []string{"3: A host twice in a group"}},
		{name: "no such group", file: "i", source: "[a:children]\nb\n", wrong: []string{"2: There is no such group"}},
		{name: "a circle", file: "i", source: "[a:children]\nb\n[b:children]\na\n", wrong: []string{"2: Groups in a circle", "4: Groups in a circle"}},
		{name: "mistakes", file: "i", source: "[a\n[b]\nn[3:1]\nn x\nn 'a\n[b:vars]\nx\n[b:other]\n", wrong: []string{
			"1: Unreadable section", "3: Unreadable host", "4: Unreadable variable", "5: Unreadable host", "7: Unreadable variable", "8: Unreadable section",
		}},
		{name: "too many", file: "i", source: "[a]\nn[1:99999999]\n", wrong: []string{"2: Unreadable host"}},
		{name: "a program", file: "i.py", source: "#!/usr/bin/env python3\n", wrong: []string{"1: The inventory is a program"}},
		{name: "encrypted", file: "i", source: "$ANSIBLE_VAULT;1.1;AES256\n6162\n", wrong: []string{"1: The file is encrypted"}},
		{name: "no yaml", file: "i.yml", source: "all:\n  hosts:\n   a: b: c\n", wrong: []string{"3: Unreadable YAML"}},
		{name: "an odd key", file: "i.yml", source: "all:\n  host:\n    a:\n", wrong: []string{"2: Unreadable inventory"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, diags := ansible.ReadInventory(test.file, []byte(test.source))
			if diff := cmp.Diff(test.wrong, show(diags)); diff != "" {
				t.Fatalf("(-want +got):\n%s\n%v", diff, diags)
			}
			for group, want := range test.groups {
				if got := strings.Join(in.Members(group), " "); got != want {
					t.Errorf("group %s: %s", group, got)
				}
			}
			for host, want := range test.vars {
				vars := in.HostVars(host)
				var got []string
				for _, name := range vars.Names() {
					text, _ := vars[name].Text()
					got = append(got, name+"="+text)
				}
				if strings.Join(got, " ") != want {
					t.Errorf("host %s: %s", host, got)
				}
			}
		})
	}
}

func TestReadVariables(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         []string
	}{
		{"values", "---\na: yes\nb: \"x: y\"\nc:\n  d: 1\n", nil},
		{"empty", "# nothing\n", nil},
		{"the whole file is encrypted", "\n$ANSIBLE_VAULT;1.1;AES256\n3161\n", []string{"1: The file is encrypted"}},
		{"a value is encrypted", "a: 1\nb: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3161\n", []string{"2: The value is encrypted"}},
		{"a value in a map is encrypted", "a:\n  b: !vault x\n", []string{"2: The value is encrypted"}},
		{"no map", "- a\n", []string{"1: Unreadable YAML"}},
		{"two documents", "a: 1\n---\nb: 2\n", []string{"3: More than one YAML document"}},
		{"an indentation", "a: 1\n b: hunter2\n", []string{"2: Unreadable YAML"}},
		{"a key twice", "a: hunter2\nb: 1\na: hunter3\n", []string{"3: Unreadable YAML"}},
		{"an anchor", "a: *hunter2\n", []string{"1: Unreadable YAML"}},
		{"an alias", "a: &b hunter2\nc: *b\n", []string{"2: Alias in YAML"}},
		{"a quote", "a: \"hunter2\nb: 1\n", []string{"1: Unreadable YAML"}},
		{"a template", "a: {{ hunter2 }}\n", []string{"1: Unreadable YAML"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, diags := ansible.ReadVariables("passwords.yml", []byte(test.source), true)
			if diff := cmp.Diff(test.want, show(diags)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(diags.Error(), "hunter") {
				t.Errorf("a value is in a message: %s", diags)
			}
		})
	}
}

func TestScope(t *testing.T) {
	globals, diags := ansible.ReadVariables("globals.yml", []byte(strings.Join([]string{
		`a: "{{ b }}"`, `b: x`, `c: "pre-{{ a | bool }}-post"`, `d: "{{ d }}"`, `e: "{{ [1] | min }}"`, `f: [1]`, `g: "{{ secret }}!"`, `h: "{{ missing }}"`,
		`i: "{% if a %}x{% endif %}"`, `j:`, `k: On`, `l: "{{ weak }}"`,
	}, "\n")), false)
	passwords, more := ansible.ReadVariables("passwords.yml", []byte("secret: hunter2\n"), true)
	if diags.HasErrors() || more.HasErrors() {
		t.Fatal(diags, more)
	}
	weak := ansible.Variables{"weak": ansible.Set("weak", "w", hcl.Range{}), "b": ansible.Set("b", "weaker", hcl.Range{})}
	scope := ansible.Scope{globals, passwords, weak}
	for name, want := range map[string]string{
		"a": "x", "c": "pre-x-post", "d": "unresolved", "e": "unresolved", "f": "unresolved", "g": "hunter2! secret",
		"h": "unresolved", "i": "unresolved", "j": "", "k": "On true", "l": "w",
	} {
		v, ok := scope.Value(name)
		got := []string{v.Text}
		for text, is := range map[string]bool{"unresolved": v.Unresolved, "secret": v.Secret, "true": v.Bool()} {
			if is {
				got = append(got, text)
			}
		}
		if got := strings.TrimSpace(strings.Join(got, " ")); got != want || !ok {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzInventory(f *testing.F) {
	f.Add("i", []byte("[a]\nn[01:03] x=1\n[b:children]\na\n[a:vars]\ny='z'\n"))
	f.Add("i", []byte("[a]\nn[a:c:2]-[1:9].x:22 y=\"z\\\" w\" # c\n"))
	f.Add("i.yml", []byte("all:\n  hosts:\n    n[1:3]:\n      x: 1\n  children:\n    a:\n      vars: {y: z}\n"))
	f.Fuzz(func(t *testing.T, name string, source []byte) {
		in, diags := ansible.ReadInventory(name, source)
		for _, d := range diags {
			if d.Subject == nil || d.Subject.Start.Line < 1 || d.Summary == "" || d.Detail == "" {
				t.Errorf("a message without a place: %v", d)
			}
		}
		if diags.HasErrors() || len(in.Groups) > 50 {
			return
		}
		for group := range in.Groups {
			members := in.Members(group)
			for _, host := range members[:min(100, len(members))] {
				if in.Hosts[host] == nil || group != "all" && group != "ungrouped" && !slices.Contains(in.GroupsOf(host), group) {
					t.Fatalf("host %q of group %q", host, group)
				}
			}
		}
		if hosts := in.Members("all"); len(hosts) > 0 {
			in.HostVars(hosts[0])
		}
	})
}

func FuzzVariables(f *testing.F) {
	f.Add([]byte("a: \"{{ b }}\"\nb: \"{{ a }}\"\nc: [1, {d: e}]\n"))
	f.Add([]byte("a: &x [*x]\n"))
	f.Add([]byte("a: !vault |\n  $ANSIBLE_VAULT;1.1\n"))
	f.Add([]byte("? [a]\n: b\n<<: {c: d}\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		variables, diags := ansible.ReadVariables("v.yml", source, true)
		for _, d := range diags {
			if d.Subject == nil || d.Subject.Start.Line < 1 || d.Detail == "" {
				t.Errorf("a message without a place: %v", d)
			}
		}
		for name, v := range variables {
			if v.At.Start.Line < 1 {
				t.Errorf("variable %q has no line", name)
			}
			if value := (ansible.Scope{variables}).Expand(v); value.Unresolved && value.Text != "" {
				t.Errorf("variable %q: a text of an expression", name)
			}
			v.Texts()
		}
	})
}
