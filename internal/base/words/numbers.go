package words

import (
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// Duration returns a duration in a readable precision: "0.4 s", "5 s", "12 s", "2 min 10 s", "1
// h 5 min", "3 days".
func Duration(d time.Duration) string {
	switch seconds := int(d.Round(time.Second).Seconds()); {
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 60*60:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	case seconds < 48*60*60:
		return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
	default:
		return fmt.Sprintf("%d days", seconds/86400)
	}
}

// Count returns a number with its noun: "1 object", "2 objects".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Ago returns the time since an event in a single unit: "just now", "50 min ago", "3 days ago".
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return Duration(d) + " ago"
	}
}

// Capital returns a phrase with a capital first letter.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if first == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// Plural returns the form of a word for n things.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
