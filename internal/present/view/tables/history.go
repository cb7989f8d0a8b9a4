package tables

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/state"
)

// History lists applies, the newest first. holder is the present holder of the state's lock; nil:
// there is none.
func History(out io.Writer, history []state.Apply, holder *state.LockInfo) error {
	if len(history) == 0 {
		fmt.Fprintln(out, "The state knows of no apply.")
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "BEGAN\tOPERATION\tRESULT\tBY\tCOMMIT\tADDED\tCHANGED\tDESTROYED\tIN")
	for _, a := range slices.Backward(history) {
		result := string(a.Result)
		switch {
		case a.Result != "":
			result += " (" + words.Duration(a.Ended.Sub(a.Began).Truncate(time.Second)) + ")"
		case holder != nil && holder.ID == a.ID:
			result = "running"
		default:
			result = "killed"
		}
		const short = 7 // characters, as git abbreviates a commit
		commit := a.Commit[:min(len(a.Commit), short)]
		if a.Changed {
			commit += "+"
		}
		foreign.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", a.Began.Local().Format("2006-01-02 15:04:05"), a.Operation, result, a.Who,
			cmp.Or(commit, "-"), a.Added, a.Updated, a.Destroyed, cmp.Or(strings.Join(a.Blocks, ", "), "-"))
	}
	return table.Flush()
}
