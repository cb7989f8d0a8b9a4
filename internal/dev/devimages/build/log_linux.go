package build

import (
	"bytes"
	"fmt"
	"os"
)

// withLog adds the end of a log to an error.
func withLog(err error, log *os.File) error {
	const lines = 20
	content, readErr := os.ReadFile(log.Name())
	if readErr != nil || len(content) == 0 {
		return err
	}
	content = bytes.TrimRight(content, "\n")
	end := bytes.Split(content, []byte("\n"))
	end = end[max(0, len(end)-lines):]
	return fmt.Errorf("%w\nthe end of %s:\n%s", err, log.Name(), bytes.Join(end, []byte("\n")))
}
