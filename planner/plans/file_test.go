package plans_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// savedPlan has a value in every field that a plan file must restore.
func savedPlan(t testing.TB) *plans.Plan {
	secret := declared("service.a/Secret/a", objecttest.Read(t, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: openstack}}"), "service.b/ConfigMap/b")
	secret.Family = address("service.a/Secret/family")
	secret.Holds = "generated values"
	secret.Data = map[string]providers.SecretData{
		"made":    {Generate: &providers.Generator{Kind: "password", Length: 32}},
		"derived": {Parts: []providers.DataPart{{Literal: "p="}, {From: &providers.SecretKey{Namespace: "openstack", Name: "b", Key: "k"}}}},
		"given":   {Parts: []providers.DataPart{{Sensitive: "do not keep me"}}},
	}
	ref := secret.Ref()
	return &plans.Plan{
		Format:  plans.Format,
		ID:      "5f0c9c9e-6a6f-4a0c-9a53-2f3c1a4f1f10",
		Tool:    "v0.1.0",
		Created: now,
		Cloud:   "prod",
		Config:  "c0ffee",
		Destroy: true,
		Options: []string{"-delete-data='*'", "-destroy"},
		Cluster: here,
		State:   plans.StateRef{Lineage: "9d6d8f2e-7c39-4f80-8a3e-5d7c0b9f7a11", Serial: 41},
		Actions: []plans.Action{{
			Address:    secret.Address,
			Verb:       plans.Replace,
			Object:     &secret,
			Ref:        ref,
			Prior:      providers.Precondition{UID: "uid-1", ResourceVersion: "12"},
			Force:      true,
			Reasons:    []plans.Reason{{Kind: plans.ReasonDrift, Path: "spec.replicas", Manager: "kubectl", Time: then, Detail: "d"}},
			Evidence:   plans.Evidence{Kind: plans.Unverified, Detail: "nobody could be asked"},
			Supersedes: address("service.a/Secret/a-0"),
			DependsOn:  []addrs.Object{address("service.b/ConfigMap/b")},
			Pending:    true,
			Values: &plans.Values{
				Before:  &extract.Part{Values: map[string]any{"spec": map[string]any{"replicas": int64(5)}}},
				After:   &extract.Part{Values: map[string]any{"spec": map[string]any{"list": []any{int64(1), "a"}}}, Sensitive: map[string]any{"data": true}, Unknown: map[string]any{"x": []any{false, true}}},
				Written: &extract.Part{Values: map[string]any{"spec": map[string]any{"replicas": int64(3)}}},
			},
			Changes: []plans.Change{
				{Path: "spec.replicas", Before: int64(5), After: int64(3), Drift: true, Manager: "kubectl", Time: then},
				{Path: "spec.ratio", Before: 0.5, After: true},
				{Path: "spec.list", After: []any{map[string]any{"n": int64(1)}}},
				{Path: "data[\"x\"]", Before: plans.Masked, After: plans.Unknown, Sensitive: true},
				{Path: "data[\"y\"]", Before: "a\n", After: "", Text: true},
			},
		}, {
			Address: address("role.control/Node/ctl-1"), Verb: plans.Delete, Removal: plans.Removal{Partial: true}, Ref: ref,
		}},
		Kept:   []plans.Kept{{Address: secret.Address, Ref: ref, Holds: "generated values"}},
		Values: true,
		Outputs: []output.Change{{
			Name: "url", Before: &state.Output{Name: "url", Type: []byte(`"string"`), Value: []byte(`"http://a"`)},
			After: &state.Output{Name: "url"}, Unknown: true,
		}},
		Checks: []state.CheckResult{{Address: "check.size", Status: "fail", Problems: []string{"It is 2."}}},
		Impact: []plans.Impact{{Block: "service.a", Service: "a", Effects: []plans.Effect{{
			Kind: plans.EffectRestart, Name: "api", Ref: ref, Pods: 3, Strategy: plans.Rolling, AtATime: 1, Grave: true,
			Causes: []plans.Cause{{Kind: plans.CauseFile, Name: "a.conf", Settings: []string{"[a] b"}}},
		}}}},
		Elapsed: 400 * time.Millisecond,
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tonight.plan")
	want := savedPlan(t)
	digest := want.Actions[0].Object.Digest()
	if err := plans.Save(path, want); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, error %v", info.Mode(), err)
	}
	got, err := plans.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Actions[0].Object.Digest() != digest {
		t.Error("the object has another digest after it was read back")
	}
	// A value that must not be stored comes back as a mark.
	want.Actions[0].Object.Data["given"] = providers.SecretData{Parts: []providers.DataPart{{Omitted: true}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-saved +loaded):\n%s", diff)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestSaveWhereNothingCanBeWritten(t *testing.T) {
	if err := plans.Save(filepath.Join(t.TempDir(), "none", "a.plan"), savedPlan(t)); err == nil {
		t.Error("no error")
	}
}

// TestPlanFormat checks the format of plan.json, which other programs read.
func TestPlanFormat(t *testing.T) {
	const path = "testdata/plan/format-1.json"
	got := unpack(t, packed(t, savedPlan(t)), "plan.json")
	if strings.Contains(got, "do not keep me") {
		t.Error("the plan holds the value of a sensitive variable")
	}
	got = indented(t, got)
	golden.Compare(t, path, []byte(got))
}

func TestReadRefuses(t *testing.T) {
	good := packed(t, savedPlan(t))
	head := unpack(t, good, "manifest.json")
	body := unpack(t, good, "plan.json")
	tests := map[string]struct {
		content []byte
		want    error
		says    string
	}{
		"nothing":                  {nil, plans.ErrNotAPlan, ""},
		"a text":                   {[]byte("kind: Plan\n"), plans.ErrNotAPlan, ""},
		"another archive":          {pack(t, map[string]string{"README": "hello"}), plans.ErrNotAPlan, "manifest.json"},
		"another program's file":   {pack(t, map[string]string{"manifest.json": `{"kind":"tfplan","format":1}`, "plan.json": body}), plans.ErrNotAPlan, ""},
		"the first half":           {good[:len(good)/2], plans.ErrNotAPlan, ""},
		"no plan in it":            {pack(t, map[string]string{"manifest.json": head}), plans.ErrNotAPlan, "plan.json"},
		"an edited plan":           {pack(t, map[string]string{"manifest.json": head, "plan.json": strings.Replace(body, "prod", "test", 1)}), plans.ErrDamaged, "checksum"},
		"parts of different plans": {pack(t, map[string]string{"manifest.json": strings.Replace(head, "5f0c9c9e", "00000000", 1), "plan.json": body}), plans.ErrDamaged, ""},
		"a flipped bit":            {flipped(good), plans.ErrDamaged, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan, err := plans.Read(test.content)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error is %v, want %v with %q", err, test.want, test.says)
			}
			if plan != nil {
				t.Error("there is a plan")
			}
		})
	}
}

// TestDamagedPlan checks that a plan file with any changed byte is not read, and that the error says
// to make a new plan.
func TestDamagedPlan(t *testing.T) {
	good := packed(t, savedPlan(t))
	path := filepath.Join(t.TempDir(), "change.plan")
	for i := 0; i < len(good); i += 7 {
		content := bytes.Clone(good)
		content[i] ^= 0x10
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := plans.Load(path)
		if err == nil {
			continue // a byte without meaning, such as a time
		}
		summary, detail, _ := failure.Explain(err)
		if !strings.HasSuffix(strings.ToLower(detail), " make a new plan.") || summary == "The plan file is damaged" && strings.Contains(detail, "If it was one") {
			t.Errorf("byte %d: %s: %s", i, summary, detail)
		}
	}
}

// flipped changes a byte in the middle of the packed plan.
func flipped(content []byte) []byte {
	content = bytes.Clone(content)
	content[len(content)/2] ^= 0xff
	return content
}

// TestLoadFromTheFuture checks that a plan file of a future kolla is rejected with the version of
// that kolla.
func TestLoadFromTheFuture(t *testing.T) {
	const path = "testdata/plan/format-2.plan"
	if golden.Update() {
		future := pack(t, map[string]string{
			"manifest.json": `{"kind":"kolla plan","format":2,"id":"x","tool":"v9.0.0","digest":"of another kind"}`,
			"plan.cbor":     "not JSON any more",
		})
		if err := os.WriteFile(path, future, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := plans.Load(path)
	if !errors.Is(err, plans.ErrNewer) || !strings.Contains(err.Error(), "v9.0.0") || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
}

func TestLoadOfNoFile(t *testing.T) {
	if _, err := plans.Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

// FuzzRead checks that reading any file gives a plan or an error.
func FuzzRead(f *testing.F) {
	seed(f, "testdata/plan/*.plan")
	f.Add(packed(f, savedPlan(f)))
	f.Fuzz(readAndWrite)
}

// FuzzReadPlan is FuzzRead with a valid checksum around the content.
func FuzzReadPlan(f *testing.F) {
	seed(f, "testdata/plan/*.json")
	f.Fuzz(func(t *testing.T, content []byte) {
		var plan struct{ ID string }
		_ = json.Unmarshal(content, &plan)
		head, err := json.Marshal(map[string]any{
			"kind": "kolla plan", "format": 1, "id": plan.ID, "sha256": fmt.Sprintf("%x", sha256.Sum256(content)),
		})
		if err != nil {
			t.Fatal(err)
		}
		readAndWrite(t, pack(t, map[string]string{"manifest.json": string(head), "plan.json": string(content)}))
	})
}

// seed adds files to a corpus. An empty list of files is an error.
func seed(f *testing.F, pattern string) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatalf("there are no seeds in %s: %v", pattern, err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
}

// readAndWrite checks that a plan that can be read can also be written, and read again.
func readAndWrite(t *testing.T, content []byte) {
	plan, err := plans.Read(content)
	if err != nil {
		return
	}
	var b bytes.Buffer
	if err := plans.Write(&b, plan); err != nil {
		t.Fatalf("write what was read: %v", err)
	}
	again, err := plans.Read(b.Bytes())
	if err != nil {
		t.Fatalf("read what was written: %v", err)
	}
	if first, second := indented(t, unpack(t, packed(t, plan), "plan.json")), indented(t, unpack(t, packed(t, again), "plan.json")); first != second {
		t.Errorf("plan (-read +read again):\n%s", cmp.Diff(first, second))
	}
}

func packed(t testing.TB, plan *plans.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := plans.Write(&b, plan); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pack(t testing.TB, entries map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, name := range []string{"manifest.json", "plan.json", "plan.cbor", "README"} {
		content, ok := entries[name]
		if !ok {
			continue
		}
		w, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t testing.TB, content []byte, name string) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	file, err := archive.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func indented(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\n"
}
