package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"time"

	"github.com/hashicorp/go-cty-funcs/crypto"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func hashFunctions() []entry {
	return []entry{
		computes("base64sha256", hashFunc(sha256.New), "Returns the SHA-256 hash of a string, encoded as base64.", `base64sha256("kolla")`, `"01XqaO6KbV7EFWi+ITUs6UV1ONVD28CMQSpI0dZ0DtQ="`),
		computes("base64sha512", hashFunc(sha512.New), "Returns the SHA-512 hash of a string, encoded as base64.", `substr(base64sha512("kolla"), 0, 8)`, `"YrQEFSIV"`),
		computes("md5", crypto.Md5Func, "Returns the MD5 hash of a string in hexadecimal.", `md5("kolla")`, `"3343dc1362b3d1c42cd29831530db284"`),
		computes("sha1", crypto.Sha1Func, "Returns the SHA-1 hash of a string in hexadecimal.", `sha1("kolla")`, `"e17195dd4fd58d73c4c479da9a0c7aefdc65f365"`),
		computes("sha256", crypto.Sha256Func, "Returns the SHA-256 hash of a string in hexadecimal.", `substr(sha256("kolla"), 0, 8)`, `"d355ea68"`),
		computes("sha512", crypto.Sha512Func, "Returns the SHA-512 hash of a string in hexadecimal.", `substr(sha512("kolla"), 0, 8)`, `"62b40415"`),
		computes("uuidv5", uuid.V5Func, `Returns the UUID (version 5) of a name. The namespace is "dns", "url", "oid", "x500" or a UUID.`, `uuidv5("dns", "www.example.org")`, `"74738ff5-5367-5958-9aee-98fffdcd1876"`),
	}
}

// hashFunc returns a function that hashes a text and returns the hash in base64.
func hashFunc(algorithm func() hash.Hash) function.Function {
	return oneText("str", func(text string) (string, error) {
		return base64.StdEncoding.EncodeToString(sumOf(algorithm, []byte(text))), nil
	})
}

func sumOf(algorithm func() hash.Hash, source []byte) []byte {
	h := algorithm()
	h.Write(source)
	return h.Sum(nil)
}

// fileHashes returns the functions that hash files.
func (f *Files) fileHashes() []entry {
	hashOf := func(algorithm func() hash.Hash, text func([]byte) string) function.Function {
		return oneText("path", func(name string) (string, error) {
			source, err := f.Read(name)
			return text(sumOf(algorithm, source)), err
		})
	}
	return []entry{
		computes("filebase64sha256", hashOf(sha256.New, base64.StdEncoding.EncodeToString), "Returns the SHA-256 hash of a file, encoded as base64.", `filebase64sha256("motd.txt") == base64sha256(file("motd.txt"))`, `true`),
		computes("filebase64sha512", hashOf(sha512.New, base64.StdEncoding.EncodeToString), "Returns the SHA-512 hash of a file, encoded as base64.", `filebase64sha512("motd.txt") == base64sha512(file("motd.txt"))`, `true`),
		computes("filemd5", hashOf(md5.New, hex.EncodeToString), "Returns the MD5 hash of a file in hexadecimal.", `filemd5("motd.txt")`, `"7803ffcaea43bb81a439fde13b29bc35"`),
		computes("filesha1", hashOf(sha1.New, hex.EncodeToString), "Returns the SHA-1 hash of a file in hexadecimal.", `filesha1("motd.txt")`, `"15475108dae528b14d0c4a4493cb19b8b3bf042d"`),
		computes("filesha256", hashOf(sha256.New, hex.EncodeToString), "Returns the SHA-256 hash of a file in hexadecimal.", `filesha256("motd.txt") == sha256(file("motd.txt"))`, `true`),
		computes("filesha512", hashOf(sha512.New, hex.EncodeToString), "Returns the SHA-512 hash of a file in hexadecimal.", `filesha512("motd.txt") == sha512(file("motd.txt"))`, `true`),
	}
}

func timeFunctions() []entry {
	return []entry{
		computes("formatdate", stdlib.FormatDateFunc, "Converts a timestamp to the given format, with YYYY, MM, DD, hh, mm, ss and similar specifiers.", `formatdate("DD MMM YYYY hh:mm ZZZ", "2026-01-02T23:12:01Z")`, `"02 Jan 2026 23:12 UTC"`),
		computes("timeadd", stdlib.TimeAddFunc, `Adds a duration to a timestamp. A negative duration, such as "-10m", subtracts.`, `timeadd("2026-11-22T00:00:00Z", "10m")`, `"2026-11-22T00:10:00Z"`),
		computes("timecmp", timecmpFunc, "Compares two timestamps. Returns -1, 0 or 1 if the first is before, equal to or after the second.", `timecmp("2026-11-22T00:00:00Z", "2026-11-22T01:00:00Z")`, `-1`),
	}
}

var timecmpFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "timestamp_a", Type: cty.String}, {Name: "timestamp_b", Type: cty.String}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var times [2]time.Time
		for i, arg := range args {
			var err error
			if times[i], err = time.Parse(time.RFC3339, arg.AsString()); err != nil {
				return cty.UnknownVal(cty.Number), function.NewArgErrorf(i, "a timestamp such as 2026-01-02T15:04:05Z is required")
			}
		}
		return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
	},
})
