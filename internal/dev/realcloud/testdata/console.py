"""Open the page with the screen of a server, and look whether something is drawn on it.

python3 console.py URL SCREENSHOT
"""

import sys

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

# How many colours the screen has: a blank one has one.
COLOURS = """
const canvas = document.querySelector("canvas");
if (!canvas || !canvas.width) return 0;
const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
const seen = new Set();
for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
return seen.size;
"""

# What the page has loaded.
LOADED = "return performance.getEntriesByType('resource').map(r => [r.name, r.responseStatus, Math.round(r.duration)])"


def main(url, screenshot):
    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-first-run", "disable-background-networking", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1000,700", "user-data-dir=/tmp/browser"):
        options.add_argument("--" + argument)
    browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    browser.set_page_load_timeout(300)
    try:
        for attempt in range(3):  # a browser loads the page again if a part of it did not come
            browser.get(url)
            try:
                WebDriverWait(browser, 100).until(lambda b: b.execute_script(COLOURS) > 1)
                break
            except TimeoutException:
                print("nothing was drawn:", browser.get_log("browser"), browser.execute_script(LOADED))
                if attempt == 2:
                    raise
    finally:
        browser.save_screenshot(screenshot)
        print(browser.title, browser.execute_script(COLOURS))
        browser.quit()


main(*sys.argv[1:])
