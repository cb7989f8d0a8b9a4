package main

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// login makes a service account, and a kubeconfig NAME.yaml with its token: login NAME NAMESPACE.
func login(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: login NAME NAMESPACE")
	}
	name, namespace := args[0], args[1]
	ts.Check(ts.Exec("kubectl", "-n", namespace, "create", "serviceaccount", name))
	ts.Check(ts.Exec("kubectl", "-n", namespace, "create", "token", name, "--duration=2h"))
	token := strings.TrimSpace(ts.ReadFile("stdout"))
	path := ts.MkAbs(name + ".yaml")
	content, err := os.ReadFile(ts.Getenv("KUBECONFIG"))
	ts.Check(err)
	ts.Check(os.WriteFile(path, content, 0o600))
	ts.Check(ts.Exec("kubectl", "--kubeconfig="+path, "config", "set-credentials", name, "--token="+token))
	ts.Check(ts.Exec("kubectl", "--kubeconfig="+path, "config", "set-context", "--current", "--user="+name))
}

// resourceOf returns the resource of a request as a rule of RBAC names it: "pods/log".
func resourceOf(r clustertest.Request) string {
	if r.ObjectRef.Subresource == "" {
		return r.ObjectRef.Resource
	}
	return r.ObjectRef.Resource + "/" + r.ObjectRef.Subresource
}

// requestsOf returns the requests of a user. There must be some.
func requestsOf(ts *testscript.TestScript, user string) []clustertest.Request {
	requests, err := clustertest.Requests()
	ts.Check(err)
	found := slices.DeleteFunc(requests, func(r clustertest.Request) bool { return r.User.Username != user })
	if len(found) == 0 {
		ts.Fatalf("the audit log knows nothing of %s", user)
	}
	return found
}

// refusals prints the refused requests of a user, each kind once: refusals USER.
func refusals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: refusals USER")
	}
	var found []string
	for _, r := range requestsOf(ts, args[0]) {
		if r.ResponseStatus.Code == http.StatusForbidden {
			found = append(found, fmt.Sprintf("%s %s.%s/%s %s/%s", r.Verb, r.ObjectRef.Resource, r.ObjectRef.APIGroup, r.ObjectRef.Subresource, r.ObjectRef.Namespace, r.ObjectRef.Name))
		}
	}
	printOnce(ts, found)
}

// unused prints the verbs of roles that no request of a user needed, each once: unused USER FILE...
// The roles are in the files.
func unused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: unused USER FILE...")
	}
	requests := requestsOf(ts, args[0])
	var found []string
	for _, file := range args[1:] {
		for document := range strings.SplitSeq(ts.ReadFile(file), "---\n") {
			var role rbacv1.Role
			ts.Check(yaml.Unmarshal([]byte(document), &role))
			for _, rule := range role.Rules {
				found = append(found, unusedOf(requests, role.Namespace, rule)...)
			}
		}
	}
	printOnce(ts, found)
}

// unusedOf returns the verbs of a rule that no request needed.
func unusedOf(requests []clustertest.Request, namespace string, rule rbacv1.PolicyRule) []string {
	var out []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if !slices.ContainsFunc(requests, func(r clustertest.Request) bool {
					// An apply that creates an object is a patch, and needs both verbs.
					creates := verb == "create" && r.Verb == "patch" && r.ResponseStatus.Code == http.StatusCreated
					return (r.Verb == verb || creates) && r.ObjectRef.APIGroup == group && resourceOf(r) == resource && (namespace == "" || r.ObjectRef.Namespace == namespace) &&
						(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, r.ObjectRef.Name))
				}) {
					out = append(out, strings.TrimSuffix(verb+" "+resource+"."+group, "."))
				}
			}
		}
	}
	return out
}

// printOnce prints the sorted lines without duplicates.
func printOnce(ts *testscript.TestScript, lines []string) {
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		fmt.Fprintln(ts.Stdout(), line)
	}
}
