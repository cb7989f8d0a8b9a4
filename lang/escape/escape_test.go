package escape_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/escape"
)

func TestInto(t *testing.T) {
	cases := []struct {
		place escape.Place
		value string
		want  string // empty: it is refused
	}{
		{"", "any'thing\n", "any'thing\n"},
		{escape.SQL, "o'clock", "o''clock"},
		{escape.SQL, "'; DROP DATABASE keystone; --", "''; DROP DATABASE keystone; --"},
		{escape.SQL, `end\`, ""},
		{escape.SQL, "two\nlines", ""},
		{escape.JSON, `a"b\c` + "\n", `a\"b\\c\n`},
		{escape.JSON, "\xff", ""},
		{escape.URL, "p@ss/w:rd %", "p%40ss%2Fw%3Ard%20%25"},
		{escape.URL.Then(escape.INI), "$ref\n", "%24ref%0A"},
		{escape.URL.Then(escape.Literal), "a-b_c.d", "a-b_c.d"},
		{escape.URL.Then(escape.Literal), "a@b", ""},
		{escape.InURL, "db_1-a", "db_1-a"},
		{escape.InURL, "db?ssl=off", ""},
		{escape.InURL, "db#", ""},
		{escape.INI, "s3cret", "s3cret"},
		{escape.INI, "a$1#;=%", "a$1#;=%"},
		{escape.INI, "a\n[DEFAULT]\ndebug = true", ""},
		{escape.INI, "a\r", ""},
		{escape.INI, " a", ""},
		{escape.INI, `"a"`, ""},
		{escape.INI, "a$admin", ""},
		{escape.INI, "a$$b", ""},
		{escape.INI, "a${b}", ""},
		{escape.INI, `a\$1`, ""},
		{escape.Line, "a'b", "a'b"},
		{escape.Line, "a\u2028b", ""},
		{escape.Line, "a\x00b", ""},
		{escape.Quoted, "plain words", "plain words"},
		{escape.Quoted, "it's", ""},
		{escape.Quoted, `a"`, ""},
		{escape.Quoted, "$(reboot)", ""},
		{escape.Quoted, "`reboot`", ""},
		{escape.Bare, "aB3+/=", "aB3+/="},
		{escape.Bare, "a; reboot", ""},
		{escape.Env, "a'\n", "a'\n"},
		{escape.Env, "a\x00", ""},
		{"nowhere", "a", ""},
	}
	for _, c := range cases {
		got, err := escape.Into(c.place, c.value)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s takes %q as %q, want an error", c.place, c.value, got)
		case c.want != "" && (err != nil || got != c.want):
			t.Errorf("%s makes %q of %q (%v), want %q", c.place, got, c.value, err, c.want)
		case err != nil && len(c.value) > 3 && strings.Contains(err.Error(), c.value):
			t.Errorf("the error shows the value: %v", err)
		}
	}
}

// FuzzInto checks that what is escaped reads back as it was, and that what is taken
// cannot leave its place.
func FuzzInto(f *testing.F) {
	for _, seed := range []string{"a", "it's", `"\`, "x\ny", "p@ss:/?#", "$a", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if out, err := escape.Into(escape.JSON, value); err == nil {
			var back string
			if err := json.Unmarshal([]byte(`"`+out+`"`), &back); err != nil || back != value {
				t.Errorf("JSON reads %q, want %q: %v", back, value, err)
			}
		}
		if out, err := escape.Into(escape.URL, value); err == nil {
			u, err := url.Parse("mysql://user:" + out + "@host/db")
			if err != nil {
				t.Fatalf("no URL with %q: %v", out, err)
			}
			if back, _ := u.User.Password(); back != value || u.Host != "host" {
				t.Errorf("the URL has the password %q on %q, want %q", back, u.Host, value)
			}
		}
		if out, err := escape.Into(escape.SQL, value); err == nil {
			if strings.Contains(strings.ReplaceAll(out, "''", ""), "'") || strings.ReplaceAll(out, "''", "'") != value {
				t.Errorf("SQL reads another text than %q: %q", value, out)
			}
		}
		for _, place := range []escape.Place{escape.INI, escape.Line, escape.Quoted, escape.Bare} {
			if out, err := escape.Into(place, value); err == nil && (out != value || strings.ContainsAny(out, "\r\n\x00")) {
				t.Errorf("%s takes %q as %q", place, value, out)
			}
		}
	})
}
