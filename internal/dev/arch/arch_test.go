// Package arch checks which package may import which, and whether the documents match the code.
package arch_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "kolla.openstack.org/kolla"

// allowed lists, for every package, which of kolla's packages it may import.
var allowed = map[string][]string{
	"cmd/kolla":                               {"internal/cli"},
	"lang":                                    {"internal/base/files", "internal/base/words", "lang/configs", "lang/functions", "lang/imagelock", "lang/internal/blocks", "lang/internal/budget", "lang/internal/check", "lang/internal/diag", "lang/internal/eval", "lang/internal/graph", "lang/internal/layers", "lang/internal/moves", "lang/internal/services", "lang/internal/settings", "lang/internal/source", "lang/internal/values", "lang/internal/variables", "lang/mark", "lang/schema", "lang/syntax"},
	"lang/addrs":                              {},
	"lang/catalogue":                          {"lang/addrs", "lang/configs", "lang/internal/diag", "lang/internal/layers", "lang/internal/source", "lang/internal/values", "lang/schema"},
	"lang/configs":                            {"internal/base/words", "lang/addrs", "lang/internal/diag", "lang/mark"},
	"lang/draft":                              {"lang/syntax"},
	"lang/escape":                             {},
	"lang/functions":                          {"internal/base/files", "internal/base/words", "lang/escape", "lang/internal/budget", "lang/mark", "lang/syntax", "lang/yaml"},
	"lang/ini":                                {},
	"lang/imagelock":                          {},
	"lang/internal/blocks":                    {"internal/base/words", "lang/addrs", "lang/configs", "lang/functions", "lang/internal/budget", "lang/internal/diag", "lang/internal/eval", "lang/internal/layers", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/releases", "lang/schema", "lang/schema/forms", "lang/syntax", "lang/yaml"},
	"lang/internal/budget":                    {},
	"lang/internal/check":                     {"internal/base/words", "lang/addrs", "lang/configs", "lang/internal/blocks", "lang/internal/diag", "lang/internal/eval", "lang/internal/layers", "lang/internal/settings", "lang/internal/source", "lang/releases", "lang/schema", "lang/schema/forms"},
	"lang/internal/diag":                      {"internal/base/words"},
	"lang/internal/eval":                      {"internal/base/words", "lang/addrs", "lang/configs", "lang/functions", "lang/internal/budget", "lang/internal/diag", "lang/internal/layers", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/schema", "lang/syntax"},
	"lang/internal/graph":                     {"internal/base/dag", "internal/base/words", "lang/addrs", "lang/configs", "lang/internal/diag", "lang/internal/eval", "lang/internal/layers", "lang/internal/source", "lang/internal/values", "lang/schema"},
	"lang/internal/langtest":                  {"lang/functions", "lang/internal/budget", "lang/internal/diag", "lang/internal/eval", "lang/internal/source", "lang/syntax"},
	"lang/internal/layers":                    {"internal/base/words", "lang/configs", "lang/internal/diag", "lang/internal/source", "lang/internal/values", "lang/schema", "lang/syntax"},
	"lang/internal/moves":                     {"internal/base/words", "lang/addrs", "lang/configs", "lang/internal/diag", "lang/internal/eval", "lang/internal/graph", "lang/internal/layers", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/schema"},
	"lang/internal/pods":                      {"internal/base/words", "lang/configs", "lang/internal/blocks", "lang/internal/diag", "lang/internal/eval", "lang/internal/settings", "lang/internal/source", "lang/mark", "lang/schema"},
	"lang/internal/services":                  {"internal/base/words", "lang/addrs", "lang/catalogue", "lang/configs", "lang/internal/blocks", "lang/internal/check", "lang/internal/diag", "lang/internal/eval", "lang/internal/graph", "lang/internal/layers", "lang/internal/moves", "lang/internal/pods", "lang/internal/settings", "lang/internal/source", "lang/internal/values", "lang/internal/variables", "lang/mark", "lang/schema"},
	"lang/internal/settings":                  {"internal/base/files", "internal/base/words", "lang/configs", "lang/functions", "lang/ini", "lang/internal/diag", "lang/internal/eval", "lang/internal/layers", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/syntax"},
	"lang/internal/source":                    {"internal/base/files", "internal/base/parallel", "internal/base/words", "lang/internal/diag", "lang/schema", "lang/syntax"},
	"lang/internal/values":                    {"internal/base/words", "lang/configs", "lang/internal/budget", "lang/internal/diag", "lang/mark", "lang/syntax"},
	"lang/internal/variables":                 {"internal/base/files", "internal/base/words", "lang/configs", "lang/internal/budget", "lang/internal/diag", "lang/internal/eval", "lang/internal/source", "lang/internal/values", "lang/mark", "lang/schema", "lang/syntax"},
	"lang/mark":                               {},
	"lang/releases":                           {},
	"lang/schema":                             {"lang/releases", "lang/schema/forms"},
	"lang/schema/forms":                       {"lang/addrs"},
	"lang/syntax":                             {"internal/base/files", "internal/base/words", "lang/internal/budget"},
	"lang/yaml":                               {"internal/base/parallel", "lang/configs"},
	"providers":                               {"internal/base/crash", "internal/base/words", "lang/addrs", "lang/escape", "providers/kinds"},
	"providers/haproxy":                       {"internal/base/words", "lang/configs"},
	"providers/keepalived":                    {"lang/configs"},
	"providers/keystone":                      {"providers"},
	"providers/mariadb":                       {"providers", "providers/secrets"},
	"providers/rabbitmq":                      {"providers"},
	"providers/kinds":                         {},
	"providers/kubernetes":                    {"providers", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/dryrun", "providers/kubernetes/internal/list", "providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources", "providers/kubernetes/internal/write"},
	"providers/kubernetes/internal/connect":   {"internal/base/crash", "internal/base/failure", "internal/base/files", "internal/base/redaction", "providers", "providers/kubernetes/internal/decode"},
	"providers/kubernetes/internal/decode":    {},
	"providers/kubernetes/internal/dryrun":    {"providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/list":      {"internal/base/crash", "providers", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/decode", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/readiness": {"internal/base/redaction", "internal/base/words", "providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/list", "providers/kubernetes/internal/resources"},
	"providers/kubernetes/internal/resources": {"internal/base/failure", "providers", "providers/kubernetes/internal/connect"},
	"providers/kubernetes/internal/watch":     {"providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/list", "providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources", "providers/scheduling"},
	"providers/kubernetes/internal/write":     {"internal/base/words", "providers", "providers/kinds", "providers/kubernetes/internal/connect", "providers/kubernetes/internal/dryrun", "providers/kubernetes/internal/list", "providers/kubernetes/internal/readiness", "providers/kubernetes/internal/resources", "providers/kubernetes/internal/watch"},
	"providers/openstack":                     {"internal/base/words", "lang/addrs", "lang/configs", "lang/imagelock", "providers", "providers/kinds", "providers/openstack/internal/files", "providers/openstack/internal/lifecycle", "providers/openstack/internal/managed", "providers/openstack/internal/manifests", "providers/openstack/internal/namespace", "providers/openstack/internal/network", "providers/openstack/internal/nodes", "providers/openstack/internal/object", "providers/openstack/internal/patch", "providers/openstack/internal/pods", "providers/openstack/internal/runs", "providers/openstack/internal/secret", "providers/openstack/internal/security", "providers/openstack/internal/uwsgi", "providers/openstack/internal/workloads", "providers/secrets"},
	"providers/openstack/internal/files":      {"lang/addrs", "lang/configs", "providers", "providers/openstack/internal/object", "providers/openstack/internal/secret"},
	"providers/openstack/internal/lifecycle":  {"internal/base/words", "lang/addrs", "lang/configs", "providers/openstack/internal/object"},
	"providers/openstack/internal/managed":    {"lang/configs", "providers/haproxy", "providers/keepalived", "providers/openstack/internal/network", "providers/openstack/internal/nodes", "providers/openstack/internal/object"},
	"providers/openstack/internal/manifests":  {"lang/addrs", "lang/configs", "providers", "providers/kinds", "providers/openstack/internal/namespace", "providers/openstack/internal/object", "providers/openstack/internal/security"},
	"providers/openstack/internal/namespace":  {"lang/configs", "providers", "providers/kinds", "providers/openstack/internal/object", "providers/podsecurity"},
	"providers/openstack/internal/network":    {"internal/base/words", "lang/addrs", "lang/configs", "providers", "providers/kinds", "providers/openstack/internal/nodes", "providers/openstack/internal/object"},
	"providers/openstack/internal/nodes":      {"internal/base/words", "lang/addrs", "lang/configs", "providers", "providers/openstack/internal/object"},
	"providers/openstack/internal/object":     {"lang/addrs", "lang/configs", "providers"},
	"providers/openstack/internal/patch":      {"internal/base/words", "lang/configs", "providers", "providers/openstack/internal/object", "providers/openstack/internal/security"},
	"providers/openstack/internal/pods":       {"lang/addrs", "lang/configs", "providers", "providers/openstack/internal/files", "providers/openstack/internal/nodes", "providers/openstack/internal/object", "providers/openstack/internal/secret"},
	"providers/openstack/internal/runs":       {"lang/addrs", "lang/configs", "providers", "providers/kinds", "providers/openstack/internal/object", "providers/secrets"},
	"providers/openstack/internal/secret":     {"lang/addrs", "lang/configs", "lang/escape", "providers", "providers/openstack/internal/object", "providers/openstack/internal/runs", "providers/secrets"},
	"providers/openstack/internal/security":   {"internal/base/words", "lang/addrs", "lang/configs", "providers", "providers/kinds", "providers/openstack/internal/object", "providers/openstack/internal/runs", "providers/podsecurity"},
	"providers/openstack/internal/uwsgi":      {"lang/configs"},
	"providers/openstack/internal/workloads":  {"lang/addrs", "lang/configs", "providers", "providers/openstack/internal/nodes", "providers/openstack/internal/object", "providers/openstack/internal/patch", "providers/openstack/internal/pods", "providers/openstack/internal/runs", "providers/openstack/internal/security"},
	"providers/openstack/options":             {"internal/base/words", "lang/configs", "lang/releases"},
	"providers/podsecurity":                   {"providers/kinds"},
	"providers/registry":                      {},
	"providers/scheduling":                    {"providers/kinds"},
	"providers/secrets":                       {"lang/addrs", "lang/configs", "lang/escape", "providers"},
	"state":                                   {"internal/base/failure", "internal/base/files"},
	"state/cluster":                           {"internal/base/crash", "state"},
	"planner":                                 {"lang/addrs", "lang/configs", "planner/dryrun", "planner/fields", "planner/internal/decision", "planner/internal/impact", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/placement", "planner/internal/removal", "planner/internal/rendering", "planner/internal/selection", "planner/internal/sides", "planner/output", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "state"},
	"planner/dryrun":                          {"planner/dryrun/crd", "planner/fields", "planner/plans", "providers", "providers/kinds"},
	"planner/dryrun/crd":                      {},
	"planner/extract":                         {},
	"planner/fields":                          {"lang/addrs", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/decision":               {"internal/base/crash", "internal/base/words", "lang/addrs", "lang/configs", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/ownership", "planner/internal/selection", "planner/internal/trial", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "providers/secrets", "state"},
	"planner/internal/impact":                 {"lang/addrs", "lang/ini", "planner/fields", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/ownership", "planner/internal/placement", "planner/internal/removal", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/inventory":              {"internal/base/crash", "internal/base/words", "lang/addrs", "lang/configs", "planner/fields", "planner/order", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "state"},
	"planner/internal/outcome":                {"internal/base/words", "lang/addrs", "planner/fields", "planner/internal/inventory", "planner/plans", "planner/trust", "providers", "providers/kinds"},
	"planner/internal/ownership":              {"internal/base/foreign", "internal/base/words", "lang/addrs", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/outcome", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/placement":              {"internal/base/words", "planner/fields", "planner/internal/inventory", "planner/internal/outcome", "planner/plans", "providers", "providers/kinds", "providers/podsecurity", "providers/scheduling"},
	"planner/internal/removal":                {"internal/base/words", "lang/addrs", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/selection", "planner/order", "planner/plans", "planner/trust", "providers", "providers/kinds"},
	"planner/internal/rendering":              {"lang/addrs", "planner/dryrun", "planner/fields", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/selection", "planner/plans", "providers", "providers/kinds", "state"},
	"planner/internal/selection":              {"internal/base/words", "lang/addrs", "lang/configs", "planner/internal/inventory", "planner/plans", "providers", "providers/kinds"},
	"planner/internal/sides":                  {"internal/base/crash", "lang/addrs", "planner/dryrun", "planner/extract", "planner/fields", "planner/internal/decision", "planner/internal/inventory", "planner/internal/outcome", "planner/internal/removal", "planner/plans", "planner/proof", "providers", "providers/kinds"},
	"planner/internal/trial":                  {"internal/base/words", "lang/addrs", "planner/dryrun", "planner/internal/inventory", "planner/internal/outcome", "planner/plans", "providers", "providers/kinds", "providers/podsecurity"},
	"planner/live":                            {}, // tests only
	"planner/order":                           {"internal/base/dag", "lang/addrs", "providers", "providers/kinds"},
	"planner/output":                          {"lang/configs", "state"},
	"planner/plans":                           {"internal/base/dag", "internal/base/failure", "internal/base/files", "internal/base/words", "lang/addrs", "lang/configs", "lang/ini", "planner/extract", "planner/output", "providers", "providers/kinds", "state"},
	"planner/proof":                           {"internal/base/crash", "providers", "providers/kinds", "state"},
	"planner/trust":                           {"lang/addrs", "providers", "providers/kinds", "providers/secrets", "state"},
	"examples":                                {},
	"internal/base/crash":                     {},
	"internal/base/dag":                       {},
	"internal/base/failure":                   {},
	"internal/base/files":                     {"internal/base/failure"},
	"internal/base/foreign":                   {},
	"internal/base/parallel":                  {"internal/base/crash"},
	"internal/base/redaction":                 {},
	"internal/base/revision":                  {"internal/base/failure", "internal/base/files"},
	"internal/base/words":                     {},
	"internal/present/annotations":            {"internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/words", "internal/present/report", "lang/configs", "planner/plans"},
	"internal/present/charts":                 {"lang/addrs", "lang/configs", "providers", "providers/kinds", "providers/secrets"},
	"internal/present/charts/live":            {}, // tests only
	"internal/present/content":                {"internal/base/words", "planner/plans", "providers", "providers/kinds", "providers/podsecurity"},
	"internal/present/discovery":              {"internal/base/foreign", "internal/base/words", "lang/addrs", "lang/configs", "providers", "providers/kinds"},
	"internal/present/drift":                  {"internal/base/files", "internal/base/foreign", "internal/base/words", "internal/present/report", "internal/present/report/effects", "lang/addrs", "planner/plans", "planner/trust", "providers", "providers/kinds", "state"},
	"internal/present/graph":                  {"lang/configs"},
	"internal/present/jsonview":               {"internal/base/foreign", "internal/base/words", "internal/present/report", "internal/present/report/applied", "internal/present/report/effects", "lang", "lang/addrs", "lang/configs", "planner/output", "planner/plans", "providers", "state"},
	"internal/present/listdiff":               {},
	"internal/present/publish":                {"internal/base/failure", "internal/base/files", "internal/base/words", "internal/present/jsonview", "internal/present/report", "internal/present/view/html", "internal/present/view/markdown", "internal/present/view/screen", "internal/present/view/terminal", "planner/plans"},
	"internal/present/report":                 {"internal/base/foreign", "internal/base/words", "internal/present/content", "internal/present/listdiff", "internal/present/report/effects", "internal/present/textdiff", "lang/addrs", "planner/output", "planner/plans", "providers", "state"},
	"internal/present/report/applied":         {"lang/addrs", "planner/plans"},
	"internal/present/report/effects":         {"internal/base/words", "lang/addrs", "planner/plans"},
	"internal/present/status":                 {"internal/base/foreign", "internal/base/words", "lang/addrs", "lang/configs", "providers", "providers/kinds", "state"},
	"internal/present/textdiff":               {},
	"internal/present/usage":                  {"internal/base/foreign", "internal/base/words", "lang/addrs", "providers", "providers/kinds"},
	"internal/present/view":                   {"internal/base/foreign", "internal/base/words", "internal/present/annotations", "internal/present/jsonview", "internal/present/report", "internal/present/report/applied", "internal/present/view/screen", "internal/present/view/terminal", "lang", "lang/addrs", "lang/configs", "lang/mark", "planner/plans", "providers"},
	"internal/present/view/html":              {"internal/base/foreign", "internal/base/words", "internal/present/drift", "internal/present/report", "internal/present/textdiff", "lang/addrs"},
	"internal/present/view/markdown":          {"internal/base/foreign", "internal/base/words", "internal/present/drift", "internal/present/report", "internal/present/textdiff", "lang/addrs"},
	"internal/present/view/screen":            {"internal/base/foreign"},
	"internal/present/view/tables":            {"internal/base/foreign", "internal/base/words", "internal/present/discovery", "internal/present/drift", "internal/present/status", "internal/present/usage", "lang/addrs", "lang/catalogue", "lang/configs", "state"},
	"internal/present/view/terminal":          {"internal/base/foreign", "internal/base/words", "internal/present/content", "internal/present/report", "internal/present/textdiff", "internal/present/view/screen", "lang/addrs"},
	"internal/run/adoption":                   {"lang/addrs", "lang/draft", "planner", "planner/plans", "providers", "providers/kinds", "providers/kubernetes"},
	"internal/run/approval":                   {"internal/base/redaction", "internal/base/words", "internal/run/executor", "lang/addrs", "lang/configs", "planner/order", "planner/output", "planner/plans", "providers", "providers/kinds", "state"},
	"internal/run/backup":                     {"internal/base/crash", "internal/base/failure", "internal/base/files", "internal/base/words", "planner/extract", "providers", "state"},
	"internal/run/cutoff":                     {"internal/base/crash", "planner/plans", "providers"},
	"internal/run/doctor":                     {"internal/base/failure", "internal/base/foreign", "internal/base/parallel", "internal/base/words", "internal/run/doctor/cluster", "internal/run/doctor/network", "internal/run/doctor/nodes", "internal/run/doctor/objects", "internal/run/probe", "internal/run/reach", "internal/run/rights", "lang/addrs", "providers", "providers/podsecurity"},
	"internal/run/doctor/cluster":             {"internal/base/words", "internal/run/probe", "internal/run/rights", "lang/configs", "providers", "providers/kinds", "providers/scheduling"},
	"internal/run/doctor/network":             {"internal/base/words", "internal/run/doctor/cluster", "internal/run/probe", "lang/configs", "providers", "providers/kinds", "providers/openstack"},
	"internal/run/doctor/nodes":               {"internal/base/words", "internal/run/doctor/cluster", "internal/run/engine", "internal/run/probe", "providers", "providers/kinds", "providers/openstack", "providers/scheduling"},
	"internal/run/doctor/objects":             {"internal/base/words", "internal/run/doctor/cluster", "internal/run/probe", "internal/run/rights", "lang/configs", "providers", "providers/kinds", "providers/podsecurity", "providers/scheduling", "providers/secrets"},
	"internal/run/engine":                     {"internal/base/failure", "internal/base/files", "internal/base/redaction", "internal/base/words", "internal/run/approval", "internal/run/cutoff", "internal/run/executor", "internal/run/policy", "internal/run/upgrade", "lang", "lang/addrs", "lang/configs", "planner", "planner/extract", "planner/fields", "planner/output", "planner/plans", "planner/trust", "providers", "providers/keystone", "providers/kinds", "providers/kubernetes", "providers/mariadb", "providers/openstack", "providers/openstack/options", "providers/rabbitmq", "providers/secrets", "state"},
	"internal/run/executor":                   {"internal/base/crash", "internal/base/dag", "internal/base/words", "lang/addrs", "planner", "planner/fields", "planner/order", "planner/plans", "planner/proof", "planner/trust", "providers", "providers/kinds", "providers/scheduling", "providers/secrets", "state"},
	"internal/run/notify":                     {"internal/base/failure"},
	"internal/run/podlogs":                    {"internal/base/crash"},
	"internal/run/probe":                      {"internal/base/crash", "internal/base/parallel", "providers", "providers/kinds"},
	"internal/run/reach":                      {"internal/base/parallel", "internal/present/discovery", "internal/run/probe"},
	"internal/run/policy":                     {"internal/present/report", "internal/run/upgrade", "lang/addrs", "lang/configs", "planner/plans"},
	"internal/run/rights":                     {"internal/base/foreign", "internal/base/words", "lang/configs", "providers", "providers/kinds", "providers/kubernetes", "state"},
	"internal/run/rollout":                    {"internal/base/crash", "internal/base/failure", "internal/base/words", "planner/plans", "providers", "providers/kubernetes", "state"},
	"internal/run/smoke":                      {"internal/base/failure", "internal/base/foreign", "internal/base/words", "internal/run/reach", "internal/run/tempest"},
	"internal/run/tempest":                    {"internal/run/probe"},
	"internal/run/takeover":                   {"internal/base/failure", "internal/base/files", "internal/base/words", "internal/run/takeover/ansible", "lang/ini", "lang/releases", "lang/syntax"},
	"internal/run/takeover/ansible":           {"lang/yaml"},
	"internal/run/upgrade":                    {"internal/base/words", "lang/configs", "lang/releases", "planner/plans", "providers", "providers/kinds"},
	"internal/cli":                            {"examples", "internal/base/crash", "internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/redaction", "internal/cli/access", "internal/cli/change", "internal/cli/command", "internal/cli/compat", "internal/cli/completion", "internal/cli/diagnose", "internal/cli/exposure", "internal/cli/format", "internal/cli/inspect", "internal/cli/logs", "internal/cli/notices", "internal/cli/operate", "internal/cli/statecmd", "internal/present/jsonview", "internal/present/view", "internal/run/explain"},
	"internal/cli/access":                     {"internal/base/failure", "internal/base/files", "internal/base/words", "internal/cli/command", "internal/present/view", "internal/run/engine", "internal/run/rights", "lang/configs", "providers", "providers/kinds", "providers/openstack", "state"},
	"internal/cli/change":                     {"internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/words", "internal/cli/command", "internal/present/jsonview", "internal/present/view", "internal/run/adoption", "internal/run/apply", "internal/run/backup", "internal/run/engine", "internal/run/executor", "internal/run/explain", "internal/run/rollout", "lang/addrs", "lang/configs", "planner/plans", "providers", "providers/kinds", "state"},
	"internal/cli/command":                    {"internal/base/crash", "internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/redaction", "internal/base/revision", "internal/base/words", "internal/cli/compat", "internal/operator", "internal/operator/v1alpha1", "internal/present/annotations", "internal/present/publish", "internal/present/textdiff", "internal/present/view", "internal/present/view/screen", "internal/run/engine", "internal/run/explain", "lang", "lang/addrs", "lang/configs", "lang/imagelock", "planner/plans", "providers", "providers/kinds", "providers/kubernetes", "providers/openstack", "state", "state/cluster"},
	"internal/cli/compat":                     {},
	"internal/cli/completion":                 {"internal/base/foreign", "lang", "lang/addrs", "lang/configs", "providers/openstack", "state"},
	"internal/cli/console":                    {"internal/base/foreign", "internal/present/view", "lang"},
	"internal/cli/diagnose":                   {"internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/words", "internal/cli/access", "internal/cli/command", "internal/present/discovery", "internal/present/drift", "internal/present/publish", "internal/present/status", "internal/present/usage", "internal/present/view", "internal/present/view/html", "internal/present/view/markdown", "internal/present/view/screen", "internal/present/view/tables", "internal/run/doctor", "internal/run/doctor/cluster", "internal/run/engine", "internal/run/notify", "internal/run/podlogs", "internal/run/probe", "internal/run/reach", "internal/run/rights", "internal/run/smoke", "internal/run/tempest", "lang/addrs", "lang/configs", "planner/plans", "providers", "providers/keystone", "providers/kinds", "providers/kubernetes", "providers/openstack", "providers/scheduling", "providers/secrets", "state"},
	"internal/run/explain":                    {"internal/base/crash", "internal/base/failure", "internal/base/redaction", "internal/base/words", "internal/present/report/applied", "internal/run/engine", "internal/run/executor", "lang/configs", "planner/plans", "providers", "providers/kinds", "providers/kubernetes", "state"},
	"internal/cli/exposure":                   {"internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/words", "internal/cli/command", "internal/present/view/tables", "lang/configs", "providers", "providers/haproxy", "providers/keepalived", "providers/kinds", "providers/secrets"},
	"internal/cli/format":                     {"internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/present/view", "lang/syntax"},
	"internal/cli/inspect":                    {"internal/base/crash", "internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/revision", "internal/base/words", "internal/cli/command", "internal/cli/console", "internal/present/charts", "internal/present/graph", "internal/present/jsonview", "internal/present/publish", "internal/present/report", "internal/present/view", "internal/present/view/screen", "internal/present/view/tables", "internal/run/engine", "internal/run/takeover", "lang", "lang/catalogue", "lang/configs", "lang/imagelock", "planner/plans", "providers", "providers/openstack", "providers/openstack/options", "providers/registry"},
	"internal/cli/live":                       {}, // tests only
	"internal/run/apply":                      {"internal/present/report/applied", "internal/run/engine", "internal/run/explain", "planner/plans", "state"},
	"internal/operator":                       {"internal/base/failure", "internal/base/redaction", "internal/base/words", "internal/operator/source", "internal/operator/v1alpha1", "internal/present/drift", "internal/present/report", "internal/present/report/applied", "internal/present/status", "internal/present/view/markdown", "internal/run/apply", "internal/run/approval", "internal/run/engine", "internal/run/explain", "internal/run/notify", "lang", "lang/addrs", "lang/configs", "planner/plans", "providers", "providers/kinds", "providers/kubernetes", "providers/openstack", "state", "state/cluster"},
	"internal/operator/source":                {"internal/operator/v1alpha1"},
	"internal/operator/v1alpha1":              {},
	"internal/cli/operate":                    {"internal/base/failure", "internal/base/foreign", "internal/base/words", "internal/cli/access", "internal/cli/command", "internal/operator", "internal/operator/v1alpha1", "internal/run/rights", "lang", "lang/configs", "planner/plans", "providers/kubernetes"},
	"internal/operator/live":                  {}, // tests only
	"internal/cli/logs":                       {"internal/base/failure", "internal/base/foreign", "providers/kubernetes"},
	"internal/cli/notices":                    {},
	"internal/cli/statecmd":                   {"internal/base/failure", "internal/base/files", "internal/base/foreign", "internal/base/words", "internal/cli/command", "internal/present/view", "internal/present/view/tables", "lang/addrs", "planner", "providers", "state"},
	"internal/dev/arch":                       {},
	"internal/dev/clustertest":                {},
	"internal/dev/certmanager":                {"internal/dev/tooltest"},
	"internal/dev/metallb":                    {"internal/dev/tooltest"},
	"internal/dev/golden":                     {"internal/present/textdiff"},
	"internal/dev/keystonetest":               {},
	"internal/dev/kubelettest":                {},
	"internal/dev/mariadbtest":                {},
	"internal/dev/rabbitmqtest":               {},
	"internal/dev/npmtest":                    {},
	"internal/dev/objecttest":                 {"lang/addrs"},
	"internal/dev/openstacktest":              {},
	"internal/dev/oslotables":                 {"lang/releases", "providers/openstack/options"},
	"internal/dev/members":                    {}, // tests only
	"internal/dev/realcloud":                  {}, // tests only
	"internal/dev/release":                    {},
	"internal/dev/s3test":                     {},
	"internal/dev/ptytest":                    {},
	"internal/dev/tooltest":                   {},
	"internal/dev/traefik":                    {"internal/dev/tooltest"},
}

type room struct {
	name  string
	below []string
}

// rooms lists the directories of the packages from the lowest to the highest, each with the rooms
// below it that it may import, in addition to itself. Packages in internal/dev are only for tests.
var rooms = []room{
	{"internal/base", nil},
	{"lang", []string{"internal/base"}},
	{"state", []string{"internal/base"}},
	{"providers", []string{"internal/base", "lang"}},
	{"planner", []string{"internal/base", "lang", "state", "providers"}},
	{"internal/present", []string{"internal/base", "lang", "state", "providers", "planner"}},
	{"internal/run", []string{"internal/base", "lang", "state", "providers", "planner", "internal/present"}},
	{"internal/operator", []string{"internal/base", "lang", "state", "providers", "planner", "internal/present", "internal/run"}},
	{"internal/cli", []string{"examples", "internal/base", "lang", "state", "providers", "planner", "internal/present", "internal/run", "internal/operator"}},
	{"cmd", []string{"internal/cli"}},
	{"examples", nil},
	{"internal/dev", []string{"lang", "providers", "internal/present"}},
}

// heavy lists modules on which kolla's packages must not depend.
var heavy = []string{"k8s.io/kubernetes", "k8s.io/apiserver", "helm.sh/helm"}

// controllers is the module that only the operator imports.
const controllers = "sigs.k8s.io/controller-runtime"

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s is not in the table: decide what it may import", name)
			continue
		}
		for _, path := range p.Imports {
			ours, ok := strings.CutPrefix(path, module+"/")
			if ok && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s; it may import only %v of ours", name, ours, may)
			}
			if (path == controllers || strings.HasPrefix(path, controllers+"/")) && !strings.HasPrefix(name, "internal/operator") {
				t.Errorf("%s imports %s, which is for the operator only", name, path)
			}
		}
		for _, path := range p.Deps {
			for _, h := range heavy {
				if path == h || strings.HasPrefix(path, h+"/") {
					t.Errorf("%s depends on %s, which is too heavy for it", name, path)
				}
			}
		}
	}
}

// TestRooms checks that imports lead from a room to itself and to rooms below it.
func TestRooms(t *testing.T) {
	in := func(name, room string) bool { return name == room || strings.HasPrefix(name, room+"/") }
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		at := slices.IndexFunc(rooms, func(r room) bool { return in(name, r.name) })
		if at < 0 {
			t.Errorf("package %s is in no room: %v", name, rooms)
			continue
		}
		room := rooms[at]
		for _, path := range p.Imports {
			ours, ok := strings.CutPrefix(path, module+"/")
			if ok && !in(ours, room.name) && !slices.ContainsFunc(room.below, func(r string) bool { return in(ours, r) }) {
				t.Errorf("%s imports %s: that is up, out of %s", name, ours, room.name)
			}
		}
	}
}

// TestOneDoorToTheCluster checks that only providers/kubernetes and its internal packages
// talk to a cluster. The operator also has its own door, to its own objects.
func TestOneDoorToTheCluster(t *testing.T) {
	doors := []string{
		"k8s.io/client-go/dynamic", "k8s.io/client-go/kubernetes", "k8s.io/client-go/rest",
		"k8s.io/client-go/discovery", "k8s.io/client-go/tools",
	}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name == "providers/kubernetes" || strings.HasPrefix(name, "providers/kubernetes/internal/") || name == "internal/dev/clustertest" || name == "internal/operator" {
			continue
		}
		for _, path := range p.Imports {
			isDoor := func(door string) bool { return path == door || strings.HasPrefix(path, door+"/") }
			if path == "k8s.io/client-go/kubernetes/scheme" { // types only
				continue
			}
			if slices.ContainsFunc(doors, isDoor) {
				t.Errorf("%s imports %s; only providers/kubernetes talks to a cluster", name, path)
			}
		}
	}
}

// TestOneWriter checks that only providers/kubernetes/internal/write calls a client's methods
// that change objects. Package dryrun calls them too, each time with DryRunAll.
func TestOneWriter(t *testing.T) {
	const client = "providers/kubernetes/internal/"
	changes := regexp.MustCompile(`\.(Create|Update|UpdateStatus|Patch|Apply|ApplyStatus|Delete|DeleteCollection|Put|Post)\(`)
	files, err := filepath.Glob(filepath.Join(root, client+"*/*.go"))
	front, frontErr := filepath.Glob(filepath.Join(root, "providers/kubernetes/*.go"))
	if err := errors.Join(err, frontErr); err != nil || len(files) == 0 || len(front) == 0 {
		t.Fatalf("found no files: %v", err)
	}
	writes := 0
	for _, file := range append(files, front...) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		text := read(t, name)
		calls := len(changes.FindAllString(text, -1))
		switch {
		case strings.HasSuffix(name, "_test.go"):
		case strings.HasPrefix(name, client+"write/"):
			writes += calls
		case name == client+"connect/exec.go": // the URL of the exec request
			calls -= strings.Count(text, ".Post().Resource(\"pods\")")
			fallthrough
		case name == client+"decode/parser.go": // a pool
			calls -= strings.Count(text, "tables.Put(")
			fallthrough
		default:
			if calls != strings.Count(text, "DryRunAll") {
				t.Errorf("%s has %d calls that may change objects", name, calls)
			}
		}
	}
	if writes == 0 {
		t.Error("found no call that changes objects: the pattern is wrong")
	}
}

// TestOneParser checks that only lang/syntax calls parsers of nested input: it limits the nesting,
// because a program cannot recover from a stack overflow.
func TestOneParser(t *testing.T) {
	found := 0
	inspect(t, "lang", func(f *ast.SelectorExpr, at token.Position) {
		from, _ := f.X.(*ast.Ident)
		if from == nil || from.Name != "hclsyntax" || f.Sel.Name != "ParseConfig" && f.Sel.Name != "ParseExpression" && f.Sel.Name != "ParseTemplate" {
			return
		}
		found++
		if at.Filename != filepath.Join(root, "lang/syntax/syntax.go") {
			t.Errorf("%s: %s is called; syntax.Expression and syntax.Template have bounds", at, f.Sel.Name)
		}
	})
	if found < 3 {
		t.Errorf("only %d calls of the parser are found", found)
	}
}

// inspect calls visit for each node of a type in the sources below a directory.
func inspect[N ast.Node](t *testing.T, dir string, visit func(n N, at token.Position)) {
	t.Helper()
	fset := token.NewFileSet()
	for _, name := range sources(t, dir) {
		file, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n, ok := n.(N); ok {
				visit(n, fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// sources returns the paths of the Go files below directories, without tests. The paths begin at
// the root of the project.
func sources(t *testing.T, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				path, err = filepath.Rel(root, path)
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	output, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < len(allowed) {
		t.Errorf("found %d packages, the table has %d: remove what is gone", len(all), len(allowed))
	}
	return all
}
