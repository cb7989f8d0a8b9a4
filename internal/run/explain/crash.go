package explain

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/redaction"
)

// DebugVariable is the environment variable that makes kolla print the stack of a crash.
const DebugVariable = "KOLLA_DEBUG"

// crashed explains a bug of kolla. The stack is for the developers of kolla: it goes into a
// file, or is printed if DebugVariable is set.
func crashed(bug *crash.Error, version string, secrets *redaction.Values) (summary, detail string) {
	return "This is a bug in kolla", fmt.Sprintf("%s. kolla stopped there. The changes made before that are recorded, and the lock is released. %s",
		failure.Sentence(bug.Error()), kept(bug, version, secrets))
}

// kept writes the report of a bug to a file, and returns a sentence with its name.
func kept(bug *crash.Error, version string, secrets *redaction.Values) string {
	report := fmt.Sprintf("kolla %s (%s, %s/%s)\n\npanic: %v\n\n%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, secrets.Text(fmt.Sprint(bug.Value)), bug.Stack)
	if os.Getenv(DebugVariable) != "" {
		return "Where it happened:\n\n" + strings.ReplaceAll(report, "\n", "\n  ")
	}
	file, err := os.CreateTemp("", "kolla-crash-*.txt") // only its owner can read it
	if err == nil {
		_, err = file.WriteString(report)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Sprintf("Run the command again with %s=1 to see where it happened, and please report it.", DebugVariable)
	}
	return fmt.Sprintf("Please report it with the file %s. Check first that it contains no private values.", file.Name())
}
