package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/internal/failure"
)

// debugVariable makes kolla print what is of use only to those who develop it.
const debugVariable = "KOLLA_DEBUG"

// crashed puts a mistake of kolla itself into words. Nobody can read a stack but those
// who develop kolla: it goes into a file for them, or is printed for one who asked.
func crashed(bug *crash.Error) (summary, detail string) {
	return "This is a bug in kolla", fmt.Sprintf("%s. kolla stopped there; what it had done until then is recorded, and the lock is released. %s",
		failure.Sentence(bug.Error()), kept(bug))
}

// kept keeps what there is to know of a bug, and says where.
func kept(bug *crash.Error) string {
	report := fmt.Sprintf("kolla %s (%s, %s/%s)\n\npanic: %v\n\n%s", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, bug.Value, bug.Stack)
	if os.Getenv(debugVariable) != "" {
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
		return fmt.Sprintf("Run it again with %s=1 to see where it happened, and please report that.", debugVariable)
	}
	return fmt.Sprintf("Please report it with the file %s. Check first that the file has no private values.", file.Name())
}
