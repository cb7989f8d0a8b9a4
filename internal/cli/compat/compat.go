// Package compat has the commands and options of other programs, and their place in kolla.
package compat

// Option is an option that clients of Terraform give without being asked. It has no effect:
// kolla always does what Is says. Another value is refused.
type Option struct {
	Name   string
	Is     string // empty: any value is accepted
	Reason string // advice for another value
}

// Options returns the options without effect of a command.
func Options(command string) []Option { return options[command] }

// Advice returns the advice for a command or an option that kolla does not have, such as
// "kolla import" or "kolla init -reconfigure".
func Advice(command string) (text string, ok bool) {
	text, ok = advice[command]
	return text, ok
}

const (
	takesLock = "It always takes the lock. To wait for it: -lock-timeout=5m"
	readsAll  = "It always reads the cluster. To update the state from the cluster: kolla apply -refresh-only"
)

var options = map[string][]Option{
	"init": {
		{"backend", "", ""}, {"get", "", ""}, {"upgrade", "", ""}, {"input", "", ""}, {"lock", "", ""}, {"reconfigure", "", ""}, {"force-copy", "", ""},
	},
	"plan":    {{"lock", "", ""}, {"lock-timeout", "", ""}, {"refresh", "true", readsAll}, {"concise", "", ""}},
	"apply":   {{"lock", "true", takesLock}, {"refresh", "true", readsAll}, {"concise", "", ""}, {"backup", "", ""}},
	"destroy": {{"lock", "true", takesLock}, {"refresh", "true", readsAll}, {"concise", "", ""}, {"backup", "", ""}},
	"graph":   {{"type", "plan", "There is one graph: that of the configuration."}, {"draw-cycles", "", ""}},
}

const noInit = "A backend has no settings beside its block in the cloud: backend \"kubernetes\" {}. After a change of the block: kolla init -migrate-state"

// advice has the advice for commands and options of other programs.
var advice = map[string]string{
	// Commands of kolla-ansible.
	"kolla deploy":            "One command makes all changes: kolla apply. kolla plan shows them before.",
	"kolla deploy-containers": "One command makes all changes: kolla apply. kolla plan shows them before.",
	"kolla reconfigure":       "One command makes all changes: kolla apply. kolla plan shows them before, and what restarts.",
	"kolla upgrade":           "Write the new release in the cloud block, and run kolla apply.",
	"kolla prechecks":         "kolla validate checks the configuration, and kolla plan what it meets in the cluster.",
	"kolla validate-config":   "kolla validate warns of options that a service does not have.",
	"kolla genconfig":         "kolla config SERVICE FILE prints a config file, and kolla render all objects.",
	"kolla pull":              "Nodes pull images when a pod needs them.",
	"kolla bootstrap-servers": "Kubernetes is there already. kolla installs nothing on hosts.",
	"kolla gather-facts":      "kolla asks the cluster for facts with each plan.",
	"kolla genpwd":            "Passwords and keys are generated at apply, and stay in the cluster.",
	"kolla certificates":      "A secret block of the kind x509 makes a certificate.",
	"kolla post-deploy":       "For an admin-openrc.sh or a clouds.yaml: kolla openrc",
	"kolla stop":              "kolla destroy -keep-data. The next kolla apply takes the data up again.",
	"kolla mariadb-backup":    "kolla backup saves the databases and what else services keep, and kolla restore brings it back.",
	"kolla mariadb-recovery":  "Members of MariaDB form their cluster again by themselves, also after a power cut of all nodes.",

	"kolla destroy -yes-i-really-really-mean-it": "To destroy without being asked: kolla destroy -auto-approve",

	// Commands and options of Terraform.
	"kolla import":                 "To take over what exists already, write an import block and plan; or plan with -adopt=ADDRESS. For a cloud of kolla-ansible: kolla import kolla-ansible",
	"kolla taint":                  "To make an object again, plan with -replace=ADDRESS.",
	"kolla untaint":                "kolla does not mark objects for replacement: -replace=ADDRESS replaces an object with one plan.",
	"kolla refresh":                "To update the state from the cluster: kolla apply -refresh-only",
	"kolla get":                    "Nothing is downloaded. Modules are directories beside the configuration; get others with git.",
	"kolla providers":              "There are no providers: all of kolla is in one program.",
	"kolla workspace":              "Each cloud has a directory of its own, with its own state; what they have in common is a module.",
	"kolla env":                    "Each cloud has a directory of its own, with its own state; what they have in common is a module.",
	"kolla test":                   "There are no test files. kolla validate and kolla plan evaluate check blocks, preconditions and validations.",
	"kolla login":                  "There is no service to log in to. The cluster is the one that kubectl would use.",
	"kolla logout":                 "There is no service to log out of. The cluster is the one that kubectl would use.",
	"kolla metadata":               "kolla catalogue shows what services are made of; docs/functions.md has the functions.",
	"kolla modules":                "Modules are the directories that module blocks name; nothing keeps a list of them.",
	"kolla query":                  "kubectl get shows what is in the cluster. An import block takes an object over, and kolla plan -generate-config-out=FILE writes its manifest.",
	"kolla stacks":                 "Each cloud has a directory of its own, with its own state; what they have in common is a module.",
	"kolla push":                   "To replace the state: kolla state push FILE. To keep it in the cluster: backend \"kubernetes\" {} in the cloud block.",
	"kolla state replace-provider": "There are no providers.",
	"kolla state identities":       "Every object has its UID in the state: kolla state show ADDRESS.",
	"kolla init -backend-config":   noInit,
}
