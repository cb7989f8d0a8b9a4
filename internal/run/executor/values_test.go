package executor_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// generated is an action on a Secret with a generated password.
func generated(verb plans.Verb, name string) plans.Action {
	a := act(verb, "Secret "+name)
	a.Object.Data = map[string]providers.SecretData{
		"password": {Generate: &providers.Generator{Kind: "password", Length: 16}},
	}
	return a
}

// derived is an action on a Secret with a URL that contains the password of another Secret.
func derived(verb plans.Verb, name, from string) plans.Action {
	a := act(verb, "Secret "+name, "Secret "+from)
	a.Object.Data = map[string]providers.SecretData{
		"url": {Parts: []providers.DataPart{
			{Literal: "mysql://keystone:"},
			{From: &providers.SecretKey{Namespace: "openstack", Name: from, Key: "password"}},
		}},
	}
	return a
}

func liveSecret(name, password string) *unstructured.Unstructured {
	u := live("Secret " + name)
	u.Object["data"] = map[string]any{"password": base64.StdEncoding.EncodeToString([]byte(password))}
	return u
}

func (a *apply) value(name, key string) string {
	secret := a.objects[act(plans.None, "Secret "+name).Ref]
	return string(providers.ValuesOf(secret)[key])
}

func TestValuesAreMadeOnceAndPassedOn(t *testing.T) {
	a := newApply(t, newCluster())
	result := a.run(t.Context(), t, generated(plans.Create, "db"), derived(plans.Create, "conf", "db"))
	if !result.Complete() {
		t.Fatalf("not complete: %v", outcomes(result))
	}
	password := a.value("db", "password")
	if len(password) != 16 || a.value("conf", "url") != "mysql://keystone:"+password {
		t.Errorf("got password %q and URL %q", password, a.value("conf", "url"))
	}
	diff(t, "calls", []string{"list Secret openstack", "apply Secret openstack/db if new", "apply Secret openstack/conf if new"}, a.calls)

	s, err := a.store.Read()
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", s); strings.Contains(text, password) {
		t.Error("the state holds the password")
	}
}

func TestValuesThatThereAreAreKept(t *testing.T) {
	for name, action := range map[string]plans.Action{
		"update":  generated(plans.Update, "db"),
		"adopt":   generated(plans.Adopt, "db"),
		"replace": generated(plans.Replace, "db"),
	} {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster(liveSecret("db", "kept")))
			a.run(t.Context(), t, action, derived(plans.Create, "conf", "db"))
			if got := a.value("db", "password"); got != "kept" {
				t.Errorf("got password %q, want the one that was there", got)
			}
			if got := a.value("conf", "url"); got != "mysql://keystone:kept" {
				t.Errorf("got URL %q", got)
			}
		})
	}
}

func TestValuesOfSecretsThatArePlannedToStay(t *testing.T) {
	a := newApply(t, newCluster(liveSecret("db", "kept")))
	a.run(t.Context(), t, generated(plans.None, "db"), derived(plans.Create, "conf", "db"))
	if got := a.value("conf", "url"); got != "mysql://keystone:kept" {
		t.Errorf("got URL %q", got)
	}
}

func TestNoPlaceholderIsEverWritten(t *testing.T) {
	a := newApply(t, newCluster())
	result := a.run(t.Context(), t, derived(plans.Create, "conf", "db"))
	diff(t, "outcomes", []string{"conf: failed"}, outcomes(result))
	// Another client may have created the Secret since, so the executor lists Secrets once more.
	diff(t, "calls", []string{"list Secret openstack", "list Secret openstack"}, a.calls)
	if err := result.Outcomes[0].Err; !strings.Contains(err.Error(), "url") {
		t.Errorf("%q does not name the key", err)
	}
	if got := a.known(t, "Secret conf"); got != nil {
		t.Errorf("the state has %+v", got)
	}
}

func TestSecretsAreNotReadWithoutNeed(t *testing.T) {
	a := newApply(t, newCluster())
	a.run(t.Context(), t, generated(plans.None, "db"), act(plans.Update, "Secret plain"), act(plans.Create, "ConfigMap conf"))
	for _, call := range a.calls {
		if strings.HasPrefix(call, "list Secret") {
			t.Errorf("it did %s", call)
		}
	}
}
